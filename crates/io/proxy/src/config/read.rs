//! From the file's text to a [`Config`], with every problem on the way.

use std::path::Path;

use toml::de::DeTable;

use super::auth::Auth;
use super::database::DatabaseKeys;
use super::file::read_text;
use super::password::Surroundings;
use super::pgbouncer::is_ini;
use super::problem::{Findings, Quote};
use super::section::{Section, join, read, table, unknown_key};
use super::tls::{ClientTls, RootCertificates, ServerTls};
use super::user::UserKeys;
use super::userlist::LoadedUserlist;
use super::{Config, ConfigError, checks};

/// The tables at the top of the file.
const TABLES: [&str; 9] = ["limits", "timeouts", "pool", "databases", "users", "auth", "tls", "http", "log"];

/// The longest configuration read: room for 100,000 databases.
const CONFIG_BYTES_MAX: usize = 64 << 20;

impl Config {
    /// Reads and checks the file at `path`. Relative paths in it start at its directory.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = read_text(path, CONFIG_BYTES_MAX)
            .map_err(|source| ConfigError::Unreadable { file: path.to_owned(), source })?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, &path.display().to_string(), directory, &|name| std::env::var(name).ok())
    }

    /// Reads and checks `text`. `file` is its name in errors; relative paths start at `directory`; `environment` gives
    /// the variables that `password_env` names.
    pub fn parse(
        text: &str,
        file: &str,
        directory: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut findings = Findings::new(file, text);
        let (document, faults) = DeTable::parse_recoverable(text);
        if !faults.is_empty() {
            let hint = is_ini(text).then(|| {
                "this looks like a pgbouncer.ini: docs/moving-from-pgbouncer.md says how to write the same as TOML".to_owned()
            });
            // What follows a syntax error is a guess: only the syntax is reported.
            for fault in faults {
                let message = format!("not valid TOML: {}", fault.message().replace('\n', ", "));
                findings.add(fault.span(), message, hint.clone(), Quote::Line);
            }
            return findings.finish().map(|()| Self::default());
        }
        let mut config = Self::default();
        let from = Surroundings { directory, environment };
        config.read(document.get_ref(), &from, &mut findings);
        checks::check(&config, &mut findings);
        findings.finish().map(|()| config)
    }

    fn read(&mut self, document: &DeTable<'_>, from: &Surroundings<'_>, findings: &mut Findings<'_>) {
        read(&mut self.general, document, "", &TABLES, findings);
        section(&mut self.limits, document, "limits", findings);
        section(&mut self.timeouts, document, "timeouts", findings);
        section(&mut self.pool, document, "pool", findings);
        section(&mut self.auth, document, "auth", findings);
        section(&mut self.http, document, "http", findings);
        section(&mut self.log, document, "log", findings);
        self.read_tls(document, from, findings);
        for (name, path, entry) in entries(document, "databases", findings) {
            let mut keys = DatabaseKeys::default();
            read(&mut keys, entry, &path, &[], findings);
            if let Some(database) = keys.build(&path, &self.tls.server, from, findings) {
                self.databases.insert(name, database);
            }
        }
        for (name, path, entry) in entries(document, "users", findings) {
            let mut keys = UserKeys::default();
            read(&mut keys, entry, &path, &[], findings);
            self.users.insert(name, keys.build(&path, from, findings));
        }
        self.general.unix_socket_dir = self.general.unix_socket_dir.take().map(|path| from.resolve(&path));
        self.userlist = read_userlist(&mut self.auth, from, findings);
    }

    fn read_tls(&mut self, document: &DeTable<'_>, from: &Surroundings<'_>, findings: &mut Findings<'_>) {
        let Some(value) = document.get("tls") else { return };
        let Some(tls) = table(value, "tls", findings) else { return };
        for (key, value) in tls {
            match key.get_ref().as_ref() {
                "client" => sub_table(&mut self.tls.client, value, "tls.client", findings),
                "server" => sub_table(&mut self.tls.server, value, "tls.server", findings),
                _ => unknown_key(key, "tls", &[], &["client", "server"], findings),
            }
        }
        let ClientTls { cert, key, ca, .. } = &mut self.tls.client;
        let ServerTls { cert: server_cert, key: server_key, root, .. } = &mut self.tls.server;
        for path in [cert, key, ca, server_cert, server_key].into_iter().flatten() {
            *path = from.resolve(path);
        }
        if let Some(RootCertificates::File(path)) = root {
            *path = from.resolve(path);
        }
    }
}

/// Reads the table `path` at the top of the file, if it is there.
fn section<S: Section>(section: &mut S, document: &DeTable<'_>, path: &str, findings: &mut Findings<'_>) {
    if let Some(value) = document.get(path) {
        sub_table(section, value, path, findings);
    }
}

fn sub_table<S: Section>(
    section: &mut S,
    value: &toml::Spanned<toml::de::DeValue<'_>>,
    path: &str,
    findings: &mut Findings<'_>,
) {
    if let Some(table) = table(value, path, findings) {
        read(section, table, path, &[], findings);
    }
}

/// The named tables below `[parent]`: name, path and table of each.
fn entries<'v, 'i>(
    document: &'v DeTable<'i>,
    parent: &str,
    findings: &mut Findings<'_>,
) -> Vec<(String, String, &'v DeTable<'i>)> {
    let Some(value) = document.get(parent) else { return Vec::new() };
    let Some(named) = table(value, parent, findings) else { return Vec::new() };
    let mut read = Vec::new();
    for (key, value) in named {
        let name = key.get_ref().to_string();
        let path = join(parent, &name);
        // PostgreSQL's names end at a zero byte and none is empty.
        if name.is_empty() || name.contains('\0') {
            findings.add(Some(key.span()), format!("[{parent}] has an unusable name"), None, Quote::Place);
        }
        if let Some(entry) = table(value, &path, findings) {
            read.push((name, path, entry));
        }
    }
    read
}

fn read_userlist(auth: &mut Auth, from: &Surroundings<'_>, findings: &mut Findings<'_>) -> LoadedUserlist {
    let Some(file) = auth.file.take().map(|file| from.resolve(&file)) else {
        return LoadedUserlist::default();
    };
    let users = LoadedUserlist::read(&file).unwrap_or_else(|why| {
        findings.at("auth.file", format!("`auth.file`: cannot use {}: {why}", file.display()));
        LoadedUserlist::default()
    });
    auth.file = Some(file);
    users
}
