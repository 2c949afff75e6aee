//! The few commands that the model server understands. They are all valid in PostgreSQL's grammar.

use super::settings;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sql {
    Empty,
    Syntax,
    /// Rows that contain the token, the parameters and the session's settings.
    Select {
        token: String,
        rows: usize,
        bytes: usize,
    },
    /// Like a SELECT of one row, but it runs until the simulation ends it or a cancel request comes.
    Slow(String),
    /// The next number of a sequence. It shows how often the command was run.
    Nextval(usize),
    /// A table whose columns a schema change replaces.
    Table,
    /// A string constant. Its value depends on the settings under which the statement was parsed.
    Read,
    /// The stored password of a user.
    Lookup,
    Show(usize),
    Set(usize, String),
    SetSome(Vec<Sql>),
    /// The proxy saves a value before a Parse, and restores it after that.
    Save(usize),
    Restore(usize),
    /// The proxy asks for the values of parameters. `None`: the model does not have the parameter.
    ShowSome(Vec<Option<usize>>),
    Reset(Option<usize>),
    Begin,
    Commit,
    Rollback,
    Fail(String),
    CopyIn(String),
    CopyOut(String, usize),
    Notice(String),
    DiscardAll,
    DeallocateAll,
}

impl Sql {
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.trim();
        let mut words = text.split([' ', ',', '(', ')']).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).unwrap_or(0);
        match (first, second) {
            ("", _) => Self::Empty,
            ("SELECT", "pg_catalog.set_config") => Self::set_config(text),
            ("select", "pg_catalog.set_config") => Self::set_configs(text),
            ("select", "pg_catalog.current_setting" | "pg_catalog.encode") => {
                let names = text.split('\'').skip(1).step_by(2).filter(|name| *name != "hex");
                Self::ShowSome(names.map(settings::index).collect())
            }
            ("SELECT", "read") => Self::Read,
            ("SELECT", "slow") => Self::Slow(words.next().unwrap_or_default().to_owned()),
            ("SELECT", "nextval") => Self::Nextval(number(words.next())),
            ("SELECT", _) => {
                let (rows, bytes) = (number(words.next()), number(words.next()));
                Self::Select { token: second.to_owned(), rows, bytes }
            }
            ("TABLE", _) => Self::Table,
            ("LOOKUP", _) => Self::Lookup,
            ("SHOW", name) => settings::index(name).map_or(Self::Syntax, Self::Show),
            ("SET", _) => Self::set(text),
            ("RESET", "ALL") => Self::Reset(None),
            ("RESET", name) => settings::index(name).map_or(Self::Syntax, |at| Self::Reset(Some(at))),
            ("BEGIN", "") => Self::Begin,
            ("COMMIT", "") => Self::Commit,
            ("ROLLBACK", "") => Self::Rollback,
            ("CALL", "fail") => Self::Fail(words.next().unwrap_or_default().to_owned()),
            ("COPY", "SELECT") => {
                let token = words.next().unwrap_or_default().to_owned();
                Self::CopyOut(token, number(words.next()))
            }
            ("COPY", _) => Self::CopyIn(second.to_owned()),
            ("CALL", "notice") => Self::Notice(words.next().unwrap_or_default().to_owned()),
            ("DISCARD", "ALL") => Self::DiscardAll,
            ("DEALLOCATE", "ALL") => Self::DeallocateAll,
            _ => Self::Syntax,
        }
    }

    fn set(text: &str) -> Self {
        let rest = text["SET".len()..].trim_start();
        let Some((name, value)) = rest.split_once('=') else { return Self::Syntax };
        match settings::index(name.trim()) {
            Some(at) => Self::Set(at, unquote(value)),
            None => Self::Syntax,
        }
    }

    /// The proxy's own commands before and after a Parse. Both are local to the transaction.
    fn set_configs(text: &str) -> Self {
        let calls = text.trim_start_matches("select ").split(",pg_catalog.set_config");
        let sets = calls.map(Self::set_config).collect();
        Self::SetSome(sets)
    }

    fn set_config(text: &str) -> Self {
        let arguments = text.split_once('(').map_or("", |(_, rest)| rest);
        let Some((name, rest)) = arguments.split_once(',') else { return Self::Syntax };
        let value = rest.rsplit_once(',').map_or("", |(value, _)| value);
        let (name, is_current) = (unquote(name), value.starts_with("pg_catalog.current_setting("));
        match (name.strip_prefix("trunkline."), settings::index(&name)) {
            (Some(of), _) => settings::index(of).map_or(Self::SetSome(Vec::new()), Self::Save),
            (_, Some(at)) if is_current => Self::Restore(at),
            (_, Some(at)) => Self::Set(at, unquote(value)),
            // Other parse settings always have the same value in the model.
            _ if settings::OTHER_PARSE_SETTINGS.contains(&&*name) => Self::SetSome(Vec::new()),
            _ => Self::Syntax,
        }
    }

    /// Whether it returns rows, and so has a RowDescription.
    pub(crate) fn has_rows(&self) -> bool {
        use Sql::{Lookup, Nextval, Read, Select, SetSome, Show, ShowSome, Slow, Table};
        matches!(
            self,
            Select { .. } | Slow(_) | Nextval(_) | Table | Read | Lookup | Show(_) | SetSome(_) | ShowSome(_)
        )
    }

    /// Whether it may run in a transaction that has failed.
    pub(crate) fn ends_transaction(&self) -> bool {
        matches!(self, Self::Commit | Self::Rollback)
    }
}

fn unquote(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix('E').unwrap_or(text);
    let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    inner.replace("''", "'").replace("\\\\", "\\")
}

/// The commands of a simple query.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut commands = vec![String::new()];
    let mut quoted = false;
    for letter in text.chars() {
        quoted ^= letter == '\'';
        match (letter, commands.last_mut()) {
            (';', _) if !quoted => commands.push(String::new()),
            (_, Some(last)) => last.push(letter),
            _ => {}
        }
    }
    commands.retain(|command| !command.trim().is_empty());
    commands
}
