//! Checks a client's StartupMessage.

use trunkline_wire::SqlState;
use trunkline_wire::startup::{PROTOCOL_OPTION_PREFIX, ProtocolVersion, StartupMessage};

use super::error::LoginFailure;
use super::options;

/// The newest supported version of the protocol.
pub(super) const PROTOCOL_NEWEST: ProtocolVersion = ProtocolVersion::V3_2;

/// What a client's StartupMessage asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartupParameters {
    /// The user; never empty.
    pub user: String,
    /// The database; the user's name if the client names no database.
    pub database: String,
    /// The version that both sides now use: the version that the client asked for, but at most 3.2.
    pub version: ProtocolVersion,
    /// Whether the client asks for a replication connection.
    pub replication: Replication,
    /// The server parameters, in the order in which PostgreSQL sets them: first those in `options`, then those that the
    /// packet names directly. A later value replaces an earlier one. Names are case-insensitive.
    pub parameters: Vec<(String, String)>,
}

/// The `replication` start-up parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replication {
    /// An ordinary connection.
    No,
    /// Physical replication, which has no database.
    Physical,
    /// Logical replication of the database.
    Logical,
}

impl StartupParameters {
    /// The start-up value that the client gives for a parameter, if it gives one.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().rev().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Reads the message.
    pub(super) fn read(packet: &StartupMessage<'_>) -> Result<Self, LoginFailure> {
        let (mut user, mut database, mut replication) = (String::new(), String::new(), Replication::No);
        let (mut from_options, mut parameters) = (Vec::new(), Vec::new());
        for (name, value) in packet.parameters() {
            if name.starts_with(PROTOCOL_OPTION_PREFIX) {
                continue;
            }
            let name = text(name, "a parameter's name")?;
            if name == "application_name" {
                parameters.push((name.to_owned(), application_name(value)));
                continue;
            }
            let value = text(value, name)?;
            match name {
                "user" => value.clone_into(&mut user),
                "database" => value.clone_into(&mut database),
                "replication" => replication = parse_replication(value)?,
                "options" => from_options = read_options(value)?,
                _ => parameters.push((name.to_owned(), value.to_owned())),
            }
        }
        if user.is_empty() {
            let message = String::from("no user name in the start-up packet: a client must say who it is");
            return Err(LoginFailure::Startup { code: SqlState::INVALID_AUTHORIZATION, message });
        }
        if database.is_empty() {
            database.clone_from(&user);
        }
        let version = packet.version.min(PROTOCOL_NEWEST);
        from_options.append(&mut parameters);
        Ok(Self { user, database, version, replication, parameters: from_options })
    }
}

fn text<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, LoginFailure> {
    std::str::from_utf8(bytes).map_err(|_| LoginFailure::Startup {
        code: SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        message: format!("{what} in the start-up packet is not UTF-8"),
    })
}

fn read_options(value: &str) -> Result<Vec<(String, String)>, LoginFailure> {
    options::parse(value)
        .map_err(|error| LoginFailure::Startup { code: SqlState::SYNTAX_ERROR, message: error.to_string() })
}

/// Reads `application_name`. It is not important enough to refuse a client: if it is not UTF-8, each byte that is not
/// printable ASCII becomes a question mark, as in PostgreSQL up to version 15.
fn application_name(value: &[u8]) -> String {
    if let Ok(name) = std::str::from_utf8(value) {
        return name.to_owned();
    }
    value.iter().map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '?' }).collect()
}

/// Reads `replication`: the word `database`, or a Boolean in any spelling or abbreviation that PostgreSQL accepts.
fn parse_replication(value: &str) -> Result<Replication, LoginFailure> {
    if value == "database" {
        return Ok(Replication::Logical);
    }
    let lower = value.to_ascii_lowercase();
    let is = |word: &str, characters_min: usize| lower.len() >= characters_min && word.starts_with(&lower);
    if is("true", 1) || is("yes", 1) || is("on", 2) || lower == "1" {
        Ok(Replication::Physical)
    } else if is("false", 1) || is("no", 1) || is("off", 2) || lower == "0" {
        Ok(Replication::No)
    } else {
        let message = format!("replication=\"{value}\" is not valid: it may be true, false or database");
        Err(LoginFailure::Startup { code: SqlState::INVALID_PARAMETER_VALUE, message })
    }
}

#[cfg(test)]
mod tests {
    use trunkline_wire::startup::FirstPacket;

    use super::*;

    fn read(parameters: &[(&[u8], &[u8])]) -> Result<StartupParameters, LoginFailure> {
        let mut packet = Vec::new();
        StartupMessage::write(&mut packet, ProtocolVersion::V3_0, parameters.iter().copied());
        let Ok(FirstPacket::Startup(message)) = FirstPacket::decode(&packet) else {
            panic!("no start-up packet")
        };
        StartupParameters::read(&message)
    }

    fn code(parameters: &[(&[u8], &[u8])]) -> SqlState {
        match read(parameters) {
            Err(LoginFailure::Startup { code, .. }) => code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_default_database_has_the_users_name() {
        let read = read(&[(b"user", b"alice"), (b"database", b"")]).expect("well formed");
        assert_eq!((read.user.as_str(), read.database.as_str()), ("alice", "alice"));
        assert_eq!(read.replication, Replication::No);
    }

    #[test]
    fn parameters_in_options_come_first() {
        let read = read(&[
            (b"DateStyle", b"ISO"),
            (b"user", b"alice"),
            (b"options", b"-c datestyle=German -c geqo=off"),
            (b"_pq_.future", b"1"),
        ])
        .expect("well formed");
        let names: Vec<_> = read.parameters.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["datestyle", "geqo", "DateStyle"]);
        assert_eq!(read.parameter("datestyle"), Some("ISO"));
        assert_eq!(read.parameter("geqo"), Some("off"));
        assert_eq!(read.parameter("work_mem"), None);
    }

    #[test]
    fn replication_is_read_in_every_spelling() {
        let replication =
            |value: &[u8]| read(&[(b"user", b"a"), (b"replication", value)]).map(|read| read.replication);
        for physical in ["true", "T", "yes", "y", "on", "1"] {
            assert_eq!(replication(physical.as_bytes()), Ok(Replication::Physical), "{physical}");
        }
        for no in ["false", "f", "NO", "off", "of", "0"] {
            assert_eq!(replication(no.as_bytes()), Ok(Replication::No), "{no}");
        }
        assert_eq!(replication(b"database"), Ok(Replication::Logical));
        for wrong in ["", "o", "2", "truest", "Database"] {
            let refused = code(&[(b"user", b"a"), (b"replication", wrong.as_bytes())]);
            assert_eq!(refused, SqlState::INVALID_PARAMETER_VALUE, "{wrong}");
        }
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(code(&[(b"database", b"x")]), SqlState::INVALID_AUTHORIZATION);
        assert_eq!(code(&[(b"user", b"")]), SqlState::INVALID_AUTHORIZATION);
        assert_eq!(code(&[(b"user", b"\xff")]), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
        assert_eq!(code(&[(b"user", b"a"), (b"\xff", b"x")]), SqlState::CHARACTER_NOT_IN_REPERTOIRE);
        assert_eq!(code(&[(b"user", b"a"), (b"options", b"-B 1")]), SqlState::SYNTAX_ERROR);
    }

    #[test]
    fn an_application_name_is_never_refused() {
        let name = |value: &[u8]| {
            let read = read(&[(b"user", b"a"), (b"application_name", value)]).expect("well formed");
            read.parameter("application_name").map(str::to_owned)
        };
        assert_eq!(name("caf\u{e9}".as_bytes()).as_deref(), Some("caf\u{e9}"));
        assert_eq!(name(b"caf\xe9 x").as_deref(), Some("caf? x"));
    }
}
