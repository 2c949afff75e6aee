//! Errors that say which peer broke which rule.

use trunkline_session::frontend::{PARAMETERS_BYTES_MAX, PARAMETERS_MAX};
use trunkline_wire::frame::FrameError;
use trunkline_wire::limits::OverLimit;
use trunkline_wire::sqlstate::SqlState;

/// A client broke the protocol or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientMisbehaved {
    /// A message has a length that no message can have.
    Frame(FrameError),
    /// A message is longer than `message_bytes_max`. Or its type carries neither text nor data, and it is longer than
    /// PostgreSQL accepts for that type.
    TooLarge(OverLimit),
    /// No client may send a message of this type here.
    UnknownMessage(u8),
    /// The body of a message does not have the fields of its type. The name is the type's.
    Malformed(&'static str),
    /// The client's prepared statements and their names take more than `client_prepared_statement_bytes_max`.
    StatementsTooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// The client has more prepared statements than `client_prepared_statements_max`.
    TooManyStatements {
        /// The bound.
        limit: usize,
    },
}

impl ClientMisbehaved {
    /// The setting whose bound the client broke, if a setting has the bound.
    pub(crate) fn bound(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge(OverLimit { name: "message_bytes", .. }) => Some("message_bytes_max"),
            Self::StatementsTooLarge { .. } => Some("client_prepared_statement_bytes_max"),
            Self::TooManyStatements { .. } => Some("client_prepared_statements_max"),
            _ => None,
        }
    }

    /// The SQLSTATE of the error that the client gets.
    #[must_use]
    pub fn code(&self) -> SqlState {
        match self {
            Self::TooLarge(_) | Self::StatementsTooLarge { .. } | Self::TooManyStatements { .. } => {
                SqlState::PROGRAM_LIMIT_EXCEEDED
            }
            _ => SqlState::PROTOCOL_VIOLATION,
        }
    }
}

impl std::fmt::Display for ClientMisbehaved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Frame(error) => write!(f, "invalid message length: {error}"),
            Self::TooLarge(OverLimit { tag, length, limit, name }) => {
                // The other bounds are PostgreSQL's own; no setting changes them.
                let setting = if *name == "message_bytes" { " (message_bytes_max)" } else { "" };
                let tag = tag.escape_ascii();
                write!(
                    f,
                    "a message of type '{tag}' claims to have {length} bytes, but at most {limit} are accepted{setting}"
                )
            }
            Self::UnknownMessage(tag) => write!(f, "invalid frontend message type {tag}"),
            Self::Malformed(what) => write!(f, "malformed {what} message"),
            Self::StatementsTooLarge { limit } => write!(
                f,
                "the prepared statements of this connection take more than client_prepared_statement_bytes_max \
                 ({limit} bytes)"
            ),
            Self::TooManyStatements { limit } => {
                write!(
                    f,
                    "more than client_prepared_statements_max ({limit}) prepared statements on one connection"
                )
            }
        }
    }
}

impl std::error::Error for ClientMisbehaved {}

/// A server broke the protocol. We close its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerMisbehaved {
    /// A message has a length that no message can have.
    Frame(FrameError),
    /// The server sent a message that does not answer what we sent.
    Unexpected {
        /// The message's type.
        tag: u8,
        /// What was expected, in words.
        expected: &'static str,
    },
    /// A message is longer than libpq accepts for its type.
    TooLarge(OverLimit),
    /// The body of a message does not have the fields of its type. The name is the type's.
    Malformed(&'static str),
    /// A turn has left a transaction open although its texts begin none, and turns of other clients follow it.
    TransactionLeftOpen,
    /// The server reports more parameters, or longer ones, than any PostgreSQL server does.
    TooManyParameters,
}

impl std::fmt::Display for ServerMisbehaved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Frame(error) => write!(f, "invalid message length: {error}"),
            Self::Unexpected { tag, expected } => {
                write!(f, "message of type {:?} where {expected} was expected", char::from(*tag))
            }
            Self::TooLarge(over) => write!(f, "{over}"),
            Self::Malformed(what) => write!(f, "malformed {what} message"),
            Self::TransactionLeftOpen => {
                f.write_str("a transaction is open after commands that cannot begin one")
            }
            Self::TooManyParameters => write!(
                f,
                "the server reports more than {PARAMETERS_MAX} parameters, or more than {PARAMETERS_BYTES_MAX} bytes of them"
            ),
        }
    }
}

impl std::error::Error for ServerMisbehaved {}
