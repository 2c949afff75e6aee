//! Why a login to a server failed, and whose fault it is.

use std::fmt;

use trunkline_wire::backend::ErrorResponse;
use trunkline_wire::startup::ProtocolVersion;
use trunkline_wire::{FrameError, HEADER_BYTES, Malformed, OverLimit, SqlState};

use crate::authentication::scram::ScramError;

/// A login that failed. No variant carries a secret of ours. The connection is good for nothing more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server turned us away, in its own words.
    #[error("the server refused the login: {0}")]
    Refused(Box<Refusal>),
    /// TLS is required and the server has none.
    #[error("the server does not offer TLS, which the configuration requires")]
    NoTls,
    /// The server asks for proof and there is nothing to give.
    #[error("the server asks for {method}, which needs {needs}; configured is {configured}")]
    CredentialUnfit {
        /// What it asks for.
        method: &'static str,
        /// What would serve.
        needs: &'static str,
        /// What there is.
        configured: &'static str,
    },
    /// The server asks for the password as it is, on a connection that others may listen to.
    #[error("the server asks for a clear text password without TLS, which the configuration does not allow")]
    CleartextNeedsTls,
    /// A method that is not supported here.
    #[error("the server asks for {0}, which is not supported: trust, password, md5 and scram-sha-256 are")]
    MethodUnsupported(&'static str),
    /// SCRAM failed; see [`ScramError`] for whose fault it is.
    #[error("SCRAM with the server failed: {0}")]
    Scram(#[from] ScramError),
    /// What we are configured to say does not fit a message: a zero byte, or too long.
    #[error("the {0} cannot be sent to a server: it has a zero byte or is too long")]
    Unsendable(&'static str),
    /// The server broke the protocol.
    #[error("the server broke the protocol: {0}")]
    ServerMisbehaved(#[from] Misbehaviour),
}

/// How the server broke the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// Its answer to SSLRequest was neither `S` nor `N`. An error message there is not believed, nor shown: anyone on
    /// the way could have written it (CVE-2024-10977).
    #[error(
        "byte 0x{0:02x} in answer to an SSLRequest: not a PostgreSQL server of this century, or not one at all"
    )]
    SslAnswer(u8),
    /// More bytes after its answer to SSLRequest: perhaps not its own (CVE-2021-23222).
    #[error("unencrypted bytes after its answer to an SSLRequest: a broken server, or someone tampering")]
    StuffedBytes,
    /// Bytes before we said anything.
    #[error("it spoke before it was spoken to")]
    SpokeFirst,
    /// A header that no message has.
    #[error("{0}")]
    Frame(FrameError),
    /// A message longer than it may be here.
    #[error("{0}")]
    OverLimit(OverLimit),
    /// A message that cannot be decoded.
    #[error("{0}")]
    Malformed(Malformed),
    /// A message that is not due.
    #[error("a message of type '{}' is not due {when}", tag.escape_ascii())]
    Unexpected {
        /// Its type.
        tag: u8,
        /// When it came.
        when: &'static str,
    },
    /// It was content before it had proved that it knows the user's secret.
    #[error("it ended SCRAM authentication without proving itself")]
    Unproved,
    /// It asked for another proof after one was given.
    #[error("it asked for a second authentication")]
    AskedTwice,
    /// It answered with a protocol that cannot follow from the one asked for.
    #[error("it negotiated protocol {answered} where {asked} was asked for")]
    Negotiation {
        /// What we asked for.
        asked: ProtocolVersion,
        /// What it answered.
        answered: ProtocolVersion,
    },
    /// It does not know protocol options that were never sent.
    #[error("it declined protocol options that were not asked for")]
    NegotiatedOptions,
    /// More parameters than there can honestly be.
    #[error("it reported too many parameters")]
    TooManyParameters,
}

/// An ErrorResponse, kept whole: of a login, or of a turn.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal {
    body: Vec<u8>,
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// Keeps a message.
    #[must_use]
    pub fn of(error: &ErrorResponse<'_>) -> Box<Self> {
        let mut frame = Vec::new();
        error.encode(&mut frame);
        frame.drain(..HEADER_BYTES);
        Box::new(Self { body: frame })
    }

    /// Keeps a message's body.
    pub(super) fn new(body: &[u8]) -> Result<Box<Self>, Misbehaviour> {
        ErrorResponse::decode(body).map_err(Misbehaviour::Malformed)?;
        Ok(Box::new(Self { body: body.to_vec() }))
    }

    /// The message, to be read or passed on. `None` never happens: the body was decoded when it was kept.
    pub fn response(&self) -> Option<ErrorResponse<'_>> {
        ErrorResponse::decode(&self.body).ok()
    }

    /// Its SQLSTATE, if it has one; not every server sends one.
    pub fn code(&self) -> Option<SqlState> {
        self.response().and_then(|response| response.code())
    }

    /// Its severity; empty if it has none.
    pub fn severity(&self) -> String {
        self.text(|response| response.severity().unwrap_or_default())
    }

    /// Its message; empty if it has none.
    pub fn message(&self) -> String {
        self.text(|response| response.message())
    }

    fn text<'a>(&'a self, of: impl Fn(&ErrorResponse<'a>) -> &'a [u8]) -> String {
        let bytes = self.response().map(|response| of(&response)).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity(), self.message())?;
        match self.code() {
            Some(code) => write!(f, " (SQLSTATE {})", code.as_str()),
            None => f.write_str(" (no SQLSTATE)"),
        }
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refusal({self})")
    }
}

impl From<Malformed> for Misbehaviour {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl From<Malformed> for LoginError {
    fn from(error: Malformed) -> Self {
        Self::ServerMisbehaved(Misbehaviour::Malformed(error))
    }
}
