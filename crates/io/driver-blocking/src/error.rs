//! What can go wrong, and whose fault it is.

use std::fmt;
use std::io;

use trunkline_session::frontend::connection::EncodeError;
use trunkline_session::frontend::rows::RowError;
use trunkline_session::frontend::{LoginError, Misbehaviour, Refusal};
use trunkline_wire::SqlState;
use trunkline_wire::backend::error_fields::field;

use crate::config::ConfigError;

pub use trunkline_session::frontend::connection::Fate;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// An error of this driver. [`Error::code`] is the server's SQLSTATE, [`Error::is_closed`] tells whether the connection can
/// still be used.
pub struct Error(Box<Kind>);

#[doc(hidden)]
#[derive(Debug, thiserror::Error)]
pub enum Kind {
    #[error("{0}")]
    Config(#[from] ConfigError),
    #[error("cannot connect to {host}: {source}")]
    Connect {
        host: String,
        #[source]
        source: Error,
    },
    #[error("no host will do: {}", joined(.0))]
    NoHost(Vec<Error>),
    #[error("{0}")]
    Unfit(&'static str),
    #[error("the name lookup gave no address")]
    NoAddress,
    #[error("{0}")]
    Tls(String),
    #[error("the connection failed: {source}")]
    Io {
        #[source]
        source: io::Error,
        fate: Option<Fate>,
    },
    #[error("the server closed the connection{}", because(.reason))]
    Ended { reason: Option<Box<Refusal>>, fate: Option<Fate> },
    #[error("the time is up")]
    TimedOut,
    #[error("the connection is closed")]
    Closed,
    #[error("{0}")]
    Login(LoginError),
    #[error("{0}")]
    Server(Box<Refusal>),
    #[error("the server broke the protocol: {source}")]
    Misbehaved {
        #[source]
        source: Misbehaviour,
        fate: Option<Fate>,
    },
    #[error("{0}")]
    Encode(#[from] EncodeError),
    #[error("parameter {} cannot be sent as {ty}: {source}", index + 1)]
    Parameter {
        index: usize,
        ty: String,
        #[source]
        source: Source,
    },
    #[error("{given} parameters were given, the statement has {expected}")]
    ParameterCount { given: usize, expected: usize },
    #[error("column {column}: {source}")]
    Column {
        column: String,
        #[source]
        source: Source,
    },
    #[error("there is no column {0}")]
    NoColumn(String),
    #[error("{0}")]
    Row(#[from] RowError),
    #[error("{rows} rows where {expected} was expected")]
    RowCount { rows: usize, expected: &'static str },
    #[error("item {item} of the batch failed: {source}")]
    Item {
        item: usize,
        #[source]
        source: Error,
    },
    #[error("{0}")]
    Usage(&'static str),
    #[error("{0}")]
    Callers(Source),
}

fn joined(errors: &[Error]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn because(reason: &Option<Box<Refusal>>) -> String {
    reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"))
}

impl Error {
    #[doc(hidden)]
    #[must_use]
    #[cold]
    pub fn new(kind: Kind) -> Self {
        Self(Box::new(kind))
    }

    /// An error of the caller's own, to leave a row handler with.
    pub fn callers(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(Kind::Callers(source.into()))
    }

    /// What the server said, where it is the server's error.
    #[must_use]
    pub fn server(&self) -> Option<ServerError<'_>> {
        match &*self.0 {
            Kind::Server(refusal) | Kind::Login(LoginError::Refused(refusal)) => Some(ServerError(refusal)),
            Kind::Ended { reason, .. } => reason.as_deref().map(ServerError),
            Kind::Item { source, .. } | Kind::Connect { source, .. } => source.server(),
            Kind::NoHost(errors) => errors.last()?.server(),
            _ => None,
        }
    }

    /// The server's SQLSTATE.
    #[must_use]
    pub fn code(&self) -> Option<SqlState> {
        self.server()?.code()
    }

    /// Whether a transaction failed only for what others did at the same time (SQLSTATE 40001 and 40P01): begun anew, it may pass.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.code().is_some_and(|code| matches!(code.as_str(), "40001" | "40P01"))
    }

    /// Which item of a batch failed, from 0. The items of its Sync were undone, and those after it were not run.
    #[must_use]
    pub fn item(&self) -> Option<usize> {
        match &*self.0 {
            Kind::Item { item, .. } => Some(*item),
            _ => None,
        }
    }

    /// Where the connection ended before the answer was complete: what became of what was asked.
    #[must_use]
    pub fn fate(&self) -> Option<Fate> {
        match &*self.0 {
            Kind::Io { fate, .. } | Kind::Ended { fate, .. } | Kind::Misbehaved { fate, .. } => *fate,
            Kind::Item { source, .. } => source.fate(),
            Kind::Closed => Some(Fate::NotRun),
            _ => None,
        }
    }

    /// Whether the connection is of no use any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match &*self.0 {
            Kind::Item { source, .. } => source.is_closed(),
            Kind::Io { .. } | Kind::Ended { .. } | Kind::Misbehaved { .. } | Kind::Closed => true,
            _ => false,
        }
    }

    /// Whether a limit on time ended it.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match &*self.0 {
            Kind::TimedOut => true,
            Kind::Connect { source, .. } => source.is_timeout(),
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl<E: Into<Kind>> From<E> for Error {
    #[cold]
    fn from(error: E) -> Self {
        Self::new(error.into())
    }
}

/// The server's ErrorResponse. Texts that are not UTF-8 have U+FFFD where they are not.
#[derive(Clone, Copy)]
pub struct ServerError<'e>(&'e Refusal);

impl ServerError<'_> {
    /// The SQLSTATE; not every server sends one.
    #[must_use]
    pub fn code(&self) -> Option<SqlState> {
        self.0.code()
    }

    /// `ERROR`, `FATAL` or `PANIC`.
    #[must_use]
    pub fn severity(&self) -> String {
        self.0.severity()
    }

    /// What happened.
    #[must_use]
    pub fn message(&self) -> String {
        self.0.message()
    }

    /// More about what happened.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        self.field(field::DETAIL)
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.field(field::HINT)
    }

    /// The constraint that was violated.
    #[must_use]
    pub fn constraint(&self) -> Option<String> {
        self.field(field::CONSTRAINT)
    }

    /// Where in the query's text, in characters from 1.
    #[must_use]
    pub fn position(&self) -> Option<u32> {
        self.field(field::POSITION)?.parse().ok()
    }

    /// Any field, by its letter (manual, "Error and Notice Message Fields").
    #[must_use]
    pub fn field(&self, letter: u8) -> Option<String> {
        let text = self.0.response()?.field(letter).map(<[u8]>::to_vec)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

impl fmt::Debug for ServerError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
