//! What a client's StartupMessage asks for, checked.

use trunkline_wire::SqlState;
use trunkline_wire::startup::{PROTOCOL_OPTION_PREFIX, ProtocolVersion, StartupMessage};

use super::error::LoginFailure;
use super::options;

/// The newest protocol spoken here.
pub(super) const PROTOCOL_NEWEST: ProtocolVersion = ProtocolVersion::V3_2;

/// Who the client wants to be, where, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartupParameters {
    /// The user; never empty.
    pub user: String,
    /// The database; the user's name where the client names none.
    pub database: String,
    /// The protocol both sides now speak: what the client asked for, 3.2 at most.
    pub version: ProtocolVersion,
    /// Whether the client wants a replication connection.
    pub replication: Replication,
    /// Server parameters to be set, in the order PostgreSQL sets them: those in `options` first, then those that the
    /// packet names itself. A later one overrides an earlier one; names are case-insensitive.
    pub parameters: Vec<(String, String)>,
}

/// The `replication` start-up parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replication {
    /// An ordinary connection.
    No,
    /// Physical replication: no database.
    Physical,
    /// Logical replication, in the database.
    Logical,
}

impl StartupParameters {
    /// The value a parameter will have at first, if the client gives one.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().rev().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Reads a packet; on failure, what to tell the client.
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
                "options" => {
                    from_options = options::parse(value).map_err(|error| LoginFailure::Startup {
                        code: SqlState::SYNTAX_ERROR,
                        message: error.to_string(),
                    })?
                }
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

/// Not worth losing a client over: what is not UTF-8 is cleaned as PostgreSQL up to 15 does it, a question mark for
/// each byte that is not printable ASCII.
fn application_name(value: &[u8]) -> String {
    if let Ok(name) = std::str::from_utf8(value) {
        return name.to_owned();
    }
    value.iter().map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '?' }).collect()
}

/// `database`, or a Boolean in any of the spellings (and their beginnings) that PostgreSQL takes.
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
