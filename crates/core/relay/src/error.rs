//! Who broke what.

use trunkline_session::frontend::{PARAMETERS_BYTES_MAX, PARAMETERS_MAX};
use trunkline_wire::frame::FrameError;
use trunkline_wire::limits::OverLimit;
use trunkline_wire::sqlstate::SqlState;

/// A client broke the protocol or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientMisbehaved {
    /// A length that no message can have.
    Frame(FrameError),
    /// A message above `message_bytes_max`, or above what PostgreSQL takes of a type that carries neither text nor
    /// data.
    TooLarge(OverLimit),
    /// A type that no client may send here.
    UnknownMessage(u8),
    /// A message that does not hold what its type says.
    Malformed(&'static str),
    /// More of names and statements than `client_prepared_statement_bytes_max`.
    StatementsTooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// More names for statements than `client_prepared_statements_max`.
    TooManyStatements {
        /// The bound.
        limit: usize,
    },
}

impl ClientMisbehaved {
    /// The setting whose bound was broken, where it is a setting's.
    pub(crate) fn bound(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge(OverLimit { name: "message_bytes", .. }) => Some("message_bytes_max"),
            Self::StatementsTooLarge { .. } => Some("client_prepared_statement_bytes_max"),
            Self::TooManyStatements { .. } => Some("client_prepared_statements_max"),
            _ => None,
        }
    }

    /// The SQLSTATE that says it.
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
                // The other bound is PostgreSQL's own, and no setting.
                let setting = if *name == "message_bytes" { " (message_bytes_max)" } else { "" };
                let tag = tag.escape_ascii();
                write!(
                    f,
                    "a message of type '{tag}' claims {length} bytes: at most {limit} are taken{setting}"
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

/// A server broke the protocol; its connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerMisbehaved {
    /// A length that no message can have.
    Frame(FrameError),
    /// A message that answers nothing that was asked.
    Unexpected {
        /// The message's type.
        tag: u8,
        /// What was expected, in words.
        expected: &'static str,
    },
    /// A message longer than any of its type, as in libpq.
    TooLarge(OverLimit),
    /// A message that does not hold what its type says.
    Malformed(&'static str),
    /// A turn has left a transaction open that was known to begin none, and others' turns follow it.
    TransactionLeftOpen,
    /// It reports more parameters, or longer ones, than any server does.
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
            Self::TransactionLeftOpen => f.write_str("a transaction was begun by what cannot begin one"),
            Self::TooManyParameters => write!(
                f,
                "more than {PARAMETERS_MAX} parameters, or more than {PARAMETERS_BYTES_MAX} bytes of them, are reported"
            ),
        }
    }
}

impl std::error::Error for ServerMisbehaved {}
