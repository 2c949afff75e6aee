//! SQLSTATE error codes: five characters; the first two are the class.

use std::fmt;

/// A code of the manual's appendix on error codes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SqlState([u8; 5]);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl SqlState {
            $($(#[$doc])* pub const $name: SqlState = SqlState(*$code);)*
        }

        #[cfg(test)]
        const ALL: &[SqlState] = &[$(SqlState::$name),*];
    };
}

codes! {
    /// The command succeeded.
    SUCCESSFUL_COMPLETION = b"00000";
    /// A warning without a more precise code.
    WARNING = b"01000";
    /// A connection could not be made or was lost, without a more precise code.
    CONNECTION_EXCEPTION = b"08000";
    /// This side could not connect to the server.
    SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION = b"08001";
    /// The connection does not exist.
    CONNECTION_DOES_NOT_EXIST = b"08003";
    /// The server refused the connection.
    SQLSERVER_REJECTED_ESTABLISHMENT_OF_SQLCONNECTION = b"08004";
    /// The connection broke.
    CONNECTION_FAILURE = b"08006";
    /// The peer broke the protocol.
    PROTOCOL_VIOLATION = b"08P01";
    /// The client asked for something that does not exist here.
    FEATURE_NOT_SUPPORTED = b"0A000";
    /// A value is not valid text for its type.
    INVALID_TEXT_REPRESENTATION = b"22P02";
    /// A parameter has a value that is not allowed.
    INVALID_PARAMETER_VALUE = b"22023";
    /// An encoding has no such character.
    UNTRANSLATABLE_CHARACTER = b"22P05";
    /// Bytes are not valid in the encoding they claim to be in.
    CHARACTER_NOT_IN_REPERTOIRE = b"22021";
    /// The command cannot be run in a transaction block.
    ACTIVE_SQL_TRANSACTION = b"25001";
    /// The transaction has failed; the server only accepts a command that ends it.
    IN_FAILED_SQL_TRANSACTION = b"25P02";
    /// A transaction was left idle for too long.
    IDLE_IN_TRANSACTION_SESSION_TIMEOUT = b"25P03";
    /// A transaction took too long.
    TRANSACTION_TIMEOUT = b"25P04";
    /// No prepared statement has this name.
    INVALID_SQL_STATEMENT_NAME = b"26000";
    /// This user may not log in, or not this way.
    INVALID_AUTHORIZATION = b"28000";
    /// The password is wrong.
    INVALID_PASSWORD = b"28P01";
    /// No portal has this name.
    INVALID_CURSOR_NAME = b"34000";
    /// No database has this name.
    INVALID_CATALOG_NAME = b"3D000";
    /// A transaction could not be serialized with others and may be tried again.
    SERIALIZATION_FAILURE = b"40001";
    /// Two transactions waited for each other.
    DEADLOCK_DETECTED = b"40P01";
    /// The text is not SQL.
    SYNTAX_ERROR = b"42601";
    /// The user lacks the right to do this.
    INSUFFICIENT_PRIVILEGE = b"42501";
    /// No object has this name.
    UNDEFINED_OBJECT = b"42704";
    /// A portal of this name exists already.
    DUPLICATE_CURSOR = b"42P03";
    /// A prepared statement of this name exists already.
    DUPLICATE_PSTATEMENT = b"42P05";
    /// Memory, disk or something else has run out.
    INSUFFICIENT_RESOURCES = b"53000";
    /// The disk is full.
    DISK_FULL = b"53100";
    /// No memory is left.
    OUT_OF_MEMORY = b"53200";
    /// All connections are taken.
    TOO_MANY_CONNECTIONS = b"53300";
    /// A limit set by configuration has been reached.
    CONFIGURATION_LIMIT_EXCEEDED = b"53400";
    /// Something is larger than the program can handle.
    PROGRAM_LIMIT_EXCEEDED = b"54000";
    /// A statement is larger or deeper than the program can handle.
    STATEMENT_TOO_COMPLEX = b"54001";
    /// The object is not in a state where this can be done.
    OBJECT_NOT_IN_PREREQUISITE_STATE = b"55000";
    /// The object is in use.
    OBJECT_IN_USE = b"55006";
    /// A setting cannot be changed now.
    CANT_CHANGE_RUNTIME_PARAM = b"55P02";
    /// An operator intervened, without a more precise code.
    OPERATOR_INTERVENTION = b"57000";
    /// The query was cancelled, by the user or by a timeout.
    QUERY_CANCELED = b"57014";
    /// An administrator ended the session.
    ADMIN_SHUTDOWN = b"57P01";
    /// The server crashed.
    CRASH_SHUTDOWN = b"57P02";
    /// The server does not take connections now.
    CANNOT_CONNECT_NOW = b"57P03";
    /// The database has been dropped.
    DATABASE_DROPPED = b"57P04";
    /// A session was left idle for too long.
    IDLE_SESSION_TIMEOUT = b"57P05";
    /// Something outside the program failed.
    SYSTEM_ERROR = b"58000";
    /// Reading or writing failed.
    IO_ERROR = b"58030";
    /// The configuration file has an error.
    CONFIG_FILE_ERROR = b"F0000";
    /// Something happened that must not happen. The error "cached plan must not change result type" does not have this
    /// code, but [`FEATURE_NOT_SUPPORTED`](SqlState::FEATURE_NOT_SUPPORTED).
    INTERNAL_ERROR = b"XX000";
    /// Stored data is damaged.
    DATA_CORRUPTED = b"XX001";
}

impl SqlState {
    /// Makes a code from five characters that are digits or capital letters; returns `None` for anything else.
    #[must_use]
    pub fn new(code: &[u8]) -> Option<SqlState> {
        let code: [u8; 5] = code.try_into().ok()?;
        code.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()).then_some(SqlState(code))
    }

    /// The five characters, ASCII.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 5] {
        &self.0
    }

    /// The five characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // The code is always ASCII: `new` checks it, and a test checks the constants.
        std::str::from_utf8(&self.0).unwrap_or("XX000")
    }

    /// The first two characters, which name the class: `08` is for connections.
    #[must_use]
    pub fn class(&self) -> [u8; 2] {
        let [first, second, ..] = self.0;
        [first, second]
    }
}

impl fmt::Display for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SqlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqlState({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_a_valid_code_and_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for code in ALL {
            assert_eq!(SqlState::new(code.as_bytes()), Some(*code));
            assert!(seen.insert(*code), "{code} is there twice");
        }
    }

    #[test]
    fn a_malformed_code_is_refused() {
        for bytes in [&b""[..], b"0800", b"08p01", b"08P011", b"08P\xff1", b"08 01"] {
            assert_eq!(SqlState::new(bytes), None);
        }
        assert_eq!(SqlState::PROTOCOL_VIOLATION.class(), *b"08");
        assert_eq!(SqlState::PROTOCOL_VIOLATION.to_string(), "08P01");
    }
}
