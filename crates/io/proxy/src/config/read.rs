//! Reads a [`Config`] from the text of a file, and collects every problem.

use std::path::Path;

use super::auth::Auth;
use super::database::DatabaseKeys;
use super::file::read_text;
use super::from_toml;
use super::password::ReadContext;
use super::problem::{Findings, Quote};
use super::section::{Section, join, read, table, unknown_key};
use super::tls::{ClientTls, RootCertificates, ServerTls};
use super::user::UserKeys;
use super::userlist::LoadedUserlist;
use super::value::{Table, Value};
use super::{Config, ConfigError, checks};

/// The tables at the top of the file.
const TABLES: [&str; 9] = ["limits", "timeouts", "pool", "databases", "users", "auth", "tls", "http", "log"];

/// The longest configuration that is read. It has room for 100,000 databases.
const CONFIG_BYTES_MAX: usize = 64 << 20;

impl Config {
    /// Reads and checks the file at `path`. Relative paths in the file start at its directory.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = read_text(path, CONFIG_BYTES_MAX)
            .map_err(|source| ConfigError::Unreadable { file: path.to_owned(), source })?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, &path.display().to_string(), directory, &|name| std::env::var(name).ok())
    }

    /// Reads and checks `text`. `file` is its name in errors; relative paths start at `directory`; `environment` returns
    /// the value of a variable that `password_env` names.
    pub fn parse(
        text: &str,
        file: &str,
        directory: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut findings = Findings::new(file, text);
        let Some(document) = from_toml::parse(text, &mut findings) else {
            return findings.finish().map(|()| Self::default());
        };
        Self::from_values(&document, &ReadContext { directory, environment }, findings)
    }

    /// Reads and checks the values of a file of any format. `findings` must have the file's text, for excerpts.
    fn from_values(
        document: &Table,
        context: &ReadContext<'_>,
        mut findings: Findings<'_>,
    ) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        config.read(document, context, &mut findings);
        checks::check(&config, &mut findings);
        findings.finish().map(|()| config)
    }

    fn read(&mut self, document: &Table, context: &ReadContext<'_>, findings: &mut Findings<'_>) {
        read(&mut self.general, document, "", &TABLES, findings);
        section(&mut self.limits, document, "limits", findings);
        section(&mut self.timeouts, document, "timeouts", findings);
        section(&mut self.pool, document, "pool", findings);
        section(&mut self.auth, document, "auth", findings);
        section(&mut self.http, document, "http", findings);
        section(&mut self.log, document, "log", findings);
        self.read_tls(document, context, findings);
        for (name, path, entry) in entries(document, "databases", findings) {
            let mut keys = DatabaseKeys::default();
            read(&mut keys, entry, &path, &[], findings);
            if let Some(database) = keys.build(&path, &self.tls.server, context, findings) {
                self.databases.insert(name, database);
            }
        }
        for (name, path, entry) in entries(document, "users", findings) {
            let mut keys = UserKeys::default();
            read(&mut keys, entry, &path, &[], findings);
            self.users.insert(name, keys.build(&path, context, findings));
        }
        self.general.unix_socket_dir = self.general.unix_socket_dir.take().map(|path| context.resolve(&path));
        self.userlist = read_userlist(&mut self.auth, context, findings);
    }

    fn read_tls(&mut self, document: &Table, context: &ReadContext<'_>, findings: &mut Findings<'_>) {
        let Some(value) = document.get("tls") else { return };
        let Some(tls) = table(value, "tls", findings) else { return };
        for (key, value) in &tls.entries {
            match key.name.as_str() {
                "client" => sub_table(&mut self.tls.client, value, "tls.client", findings),
                "server" => sub_table(&mut self.tls.server, value, "tls.server", findings),
                _ => unknown_key(key, "tls", &[], &["client", "server"], findings),
            }
        }
        let ClientTls { cert, key, ca, .. } = &mut self.tls.client;
        let ServerTls { cert: server_cert, key: server_key, root, .. } = &mut self.tls.server;
        for path in [cert, key, ca, server_cert, server_key].into_iter().flatten() {
            *path = context.resolve(path);
        }
        if let Some(RootCertificates::File(path)) = root {
            *path = context.resolve(path);
        }
    }
}

/// Reads the top-level table `path`, if the file has it.
fn section<S: Section>(section: &mut S, document: &Table, path: &str, findings: &mut Findings<'_>) {
    if let Some(value) = document.get(path) {
        sub_table(section, value, path, findings);
    }
}

fn sub_table<S: Section>(section: &mut S, value: &Value, path: &str, findings: &mut Findings<'_>) {
    if let Some(table) = table(value, path, findings) {
        read(section, table, path, &[], findings);
    }
}

/// The name, path and table of each entry of `[parent]`.
fn entries<'v>(
    document: &'v Table,
    parent: &str,
    findings: &mut Findings<'_>,
) -> Vec<(String, String, &'v Table)> {
    let Some(value) = document.get(parent) else { return Vec::new() };
    let Some(named) = table(value, parent, findings) else { return Vec::new() };
    let mut read = Vec::new();
    for (key, value) in &named.entries {
        let name = key.name.clone();
        let path = join(parent, &name);
        // A name of PostgreSQL is not empty and has no zero byte.
        if name.is_empty() || name.contains('\0') {
            findings.add(
                Some(key.place.clone()),
                format!("[{parent}] has an unusable name"),
                None,
                Quote::Place,
            );
        }
        if let Some(entry) = table(value, &path, findings) {
            read.push((name, path, entry));
        }
    }
    read
}

fn read_userlist(auth: &mut Auth, context: &ReadContext<'_>, findings: &mut Findings<'_>) -> LoadedUserlist {
    let Some(file) = auth.file.take().map(|file| context.resolve(&file)) else {
        return LoadedUserlist::default();
    };
    let users = LoadedUserlist::read(&file).unwrap_or_else(|why| {
        findings.add_at("auth.file", format!("`auth.file`: cannot use {}: {why}", file.display()));
        LoadedUserlist::default()
    });
    auth.file = Some(file);
    users
}

#[cfg(test)]
mod tests {
    use super::super::value::{Data, Integer, Key};
    use super::*;

    /// A file in a format of this test: each line has a table, a name, a kind and a value.
    const LINES: &str = "\
limits max_client_conn whole 7
timeouts query_timeout float 1.5
databases.app host text db
databases.app pool_mode text session
users.u password text hunter2
tls.client min_protocol text TLSv1.3
auth cleartext_without_tls truth true
";

    /// The tables that `lines` describe, each value with its place.
    fn document(lines: &str) -> Table {
        let mut document = Table::default();
        let mut start = 0;
        for line in lines.split_inclusive('\n') {
            let [path, name, kind, value] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let place = |word: &str| {
                let at = start + line.find(word).expect("a word of the line");
                at..at + word.len()
            };
            let data = match kind {
                "whole" => Data::Integer(Integer { digits: value.to_owned(), radix: 10 }),
                "float" => Data::Float(value.to_owned()),
                "truth" => Data::Boolean(value == "true"),
                _ => Data::Text(value.to_owned()),
            };
            let mut table = &mut document;
            for name in path.split('.') {
                table = table_in(table, name, place(path));
            }
            let key = Key { name: name.to_owned(), place: place(name) };
            table.entries.push((key, Value { data, place: place(value) }));
            start += line.len();
        }
        document
    }

    /// The table `name` in `table`; a new one if it is not there.
    fn table_in<'t>(table: &'t mut Table, name: &str, place: std::ops::Range<usize>) -> &'t mut Table {
        let entries = &mut table.entries;
        let index = entries.iter().position(|(key, _)| key.name == name).unwrap_or_else(|| {
            let key = Key { name: name.to_owned(), place: place.clone() };
            entries.push((key, Value { data: Data::Table(Table::default()), place }));
            entries.len() - 1
        });
        match &mut entries[index].1.data {
            Data::Table(table) => table,
            _ => panic!("{name} is no table"),
        }
    }

    fn read_lines(lines: &str) -> Result<Config, ConfigError> {
        let context = ReadContext { directory: Path::new("/"), environment: &|_| None };
        Config::from_values(&document(lines), &context, Findings::new("t.lines", lines))
    }

    #[test]
    fn a_configuration_of_another_format_reads_the_same() {
        let toml = "limits.max_client_conn = 7\ntimeouts.query_timeout = 1.5\nauth.cleartext_without_tls = true\n\
                    [databases.app]\nhost = \"db\"\npool_mode = \"session\"\n\
                    [users.u]\npassword = \"hunter2\"\n[tls.client]\nmin_protocol = \"TLSv1.3\"\n";
        let from_toml = Config::parse(toml, "t.toml", Path::new("/"), &|_| None).expect("accepted");
        assert_eq!(read_lines(LINES).expect("accepted"), from_toml);
    }

    #[test]
    fn problems_have_their_places_in_any_format() {
        let error =
            read_lines(&format!("{LINES}limits pools_maks whole 3\nlimits lent_turns_max text many\n"));
        let expected = "t.lines:8:8: unknown key `pools_maks` in [limits]\n 8 | ... pools_maks ...\n   |     ^^^^^^^^^^\n   = \
            did you mean `pools_max`?\n\n\
            t.lines:9:28: `limits.lent_turns_max`: expected a whole number from 0 to 4294967295, found \"many\"";
        assert_eq!(error.expect_err("refused").to_string(), expected);
    }
}
