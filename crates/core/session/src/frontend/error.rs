//! Why our login to a server failed, and whose fault it is.

use std::fmt;

use trunkline_wire::backend::ErrorResponse;
use trunkline_wire::startup::ProtocolVersion;
use trunkline_wire::{FrameError, HEADER_BYTES, Malformed, OverLimit, SqlState};

use crate::authentication::scram::ScramError;

/// Our login to a server has failed. No variant holds one of our secrets. The connection cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server refused the login with an ErrorResponse.
    #[error("the server refused the login: {0}")]
    Refused(Box<Refusal>),
    /// TLS is required, but the server does not offer it.
    #[error("the server does not offer TLS, which the configuration requires")]
    NoTls,
    /// The server asks for a proof that the configured credential cannot give.
    #[error("the server asks for {method}, which needs {needs}; configured is {configured}")]
    CredentialUnfit {
        /// The method that the server asks for.
        method: &'static str,
        /// The credential that this method needs.
        needs: &'static str,
        /// The credential that is configured.
        configured: &'static str,
    },
    /// The server asks for the password in clear text on a connection without TLS, where others may read it.
    #[error("the server asks for a clear text password without TLS, which the configuration does not allow")]
    CleartextNeedsTls,
    /// The server asks for a method that is not supported.
    #[error("the server asks for {0}, which is not supported: trust, password, md5 and scram-sha-256 are")]
    MethodUnsupported(&'static str),
    /// SCRAM failed; [`ScramError`] says why.
    #[error("SCRAM with the server failed: {0}")]
    Scram(#[from] ScramError),
    /// A configured value cannot be sent: it has a zero byte or is too long.
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
    /// The server's answer to SSLRequest was neither `S` nor `N`. If it is an error message, we do not show it: anyone
    /// on the way could have written it (CVE-2024-10977).
    #[error(
        "byte 0x{0:02x} in answer to an SSLRequest: not a PostgreSQL server of this century, or not one at all"
    )]
    SslAnswer(u8),
    /// More bytes came after the server's answer to SSLRequest. Perhaps the server did not send them (CVE-2021-23222).
    #[error("unencrypted bytes after its answer to an SSLRequest: a broken server, or someone tampering")]
    UnencryptedBytes,
    /// The server sent bytes before we sent anything.
    #[error("it spoke before it was spoken to")]
    BytesBeforeRequest,
    /// A header has a length that no message can have.
    #[error("{0}")]
    Frame(FrameError),
    /// A message is longer than allowed.
    #[error("{0}")]
    OverLimit(OverLimit),
    /// A message is malformed.
    #[error("{0}")]
    Malformed(Malformed),
    /// A message is not allowed at this point.
    #[error("a message of type '{}' is not due {when}", tag.escape_ascii())]
    Unexpected {
        /// The message's type.
        tag: u8,
        /// The state in which it came.
        when: &'static str,
    },
    /// The server sent AuthenticationOk before it had proved that it knows the user's secret.
    #[error("it ended SCRAM authentication without proving itself")]
    EndedWithoutProof,
    /// The server asked for another proof after one was given.
    #[error("it asked for a second authentication")]
    AskedTwice,
    /// The server answered with a protocol version that is not a valid answer to ours.
    #[error("it negotiated protocol {answered} where {asked} was asked for")]
    Negotiation {
        /// The version that we asked for.
        asked: ProtocolVersion,
        /// The version that the server named.
        answered: ProtocolVersion,
    },
    /// The server declined protocol options that we never sent.
    #[error("it declined protocol options that were not asked for")]
    NegotiatedOptions,
    /// The server reported more parameters than the limit.
    #[error("it reported too many parameters")]
    TooManyParameters,
}

/// A complete ErrorResponse that is kept after its bytes are gone: of a login or of a turn.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal {
    body: Vec<u8>,
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// Keeps a copy of a message.
    #[must_use]
    pub fn of(error: &ErrorResponse<'_>) -> Box<Self> {
        let mut frame = Vec::new();
        error.encode(&mut frame);
        frame.drain(..HEADER_BYTES);
        Box::new(Self { body: frame })
    }

    /// Keeps a copy of a message's body.
    pub(super) fn new(body: &[u8]) -> Result<Box<Self>, Misbehaviour> {
        ErrorResponse::decode(body).map_err(Misbehaviour::Malformed)?;
        Ok(Box::new(Self { body: body.to_vec() }))
    }

    /// The message, to read it or pass it on. It is never `None`: the body was decoded before it was kept.
    pub fn response(&self) -> Option<ErrorResponse<'_>> {
        ErrorResponse::decode(&self.body).ok()
    }

    /// The error's SQLSTATE. Not every server sends one.
    pub fn code(&self) -> Option<SqlState> {
        self.response().and_then(|response| response.code())
    }

    /// The error's severity; empty if it has none.
    pub fn severity(&self) -> String {
        self.text(|response| response.severity().unwrap_or_default())
    }

    /// The error's message; empty if it has none.
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
