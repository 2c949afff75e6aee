//! Why a client could not log in, and what it is told.

use trunkline_wire::backend::ErrorResponse;
use trunkline_wire::startup::{ProtocolVersion, StartupError};
use trunkline_wire::{FrameError, Malformed, OverLimit, SqlState};

use crate::authentication::scram::ScramError;

/// A login that failed. What the client is to be told, if anything, is in the output buffer already: flush it, then
/// close the connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct LoginError {
    /// What went wrong, for the log. Carries no secret.
    #[from]
    pub failure: LoginFailure,
}

/// What went wrong. Most are the client breaking the protocol: see [`LoginFailure::is_misbehaviour`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginFailure {
    /// The password or proof is wrong, or there is no such user, or the user has no password: not told apart.
    #[error("password authentication failed for user \"{user}\"")]
    WrongPassword {
        /// Who the client wanted to be.
        user: String,
    },
    /// The listener requires TLS and the client did without.
    #[error("this listener requires TLS")]
    TlsRequired,
    /// The password would have to cross the network as it is.
    #[error("clear text passwords are accepted over TLS only")]
    CleartextNeedsTls,
    /// The client said Terminate: instead of its first packet, or instead of a proof, as a client without a password at
    /// hand does.
    #[error("the client left during authentication")]
    Left,
    /// TLS was begun on a listener without it.
    #[error("the client began TLS, which this listener does not offer")]
    TlsNotOffered,
    /// Bytes after an SSLRequest or a GSSENCRequest, before its answer. No honest client sends them: taken for part of
    /// the encrypted session, an attacker's words would pass for a client's (CVE-2021-3935).
    #[error(
        "unencrypted bytes after the {request}: a broken client, or someone tampering with the connection"
    )]
    StuffedBytes {
        /// Which request.
        request: &'static str,
    },
    /// The same request a second time.
    #[error("a second {request} on one connection")]
    RepeatedNegotiation {
        /// Which request.
        request: &'static str,
    },
    /// A protocol other than 3.x.
    #[error("protocol {0} is not supported: 3.0 to 3.2 are")]
    UnsupportedVersion(ProtocolVersion),
    /// A first packet of an impossible length, or malformed.
    #[error("{0}")]
    FirstPacket(StartupError),
    /// What the start-up packet asks for cannot be had.
    #[error("{message}")]
    Startup {
        /// The fitting code.
        code: SqlState,
        /// What is wrong.
        message: String,
    },
    /// A header that no message has.
    #[error("{0}")]
    Frame(FrameError),
    /// A message longer than it may be here.
    #[error("{0}")]
    OverLimit(OverLimit),
    /// A message that is not due.
    #[error("a password message was expected, a message of type '{}' came", tag.escape_ascii())]
    UnexpectedMessage {
        /// Its type.
        tag: u8,
    },
    /// A password message that cannot be decoded.
    #[error("{0}")]
    Malformed(Malformed),
    /// The SCRAM exchange broke down for another reason than a wrong proof.
    #[error(transparent)]
    Scram(ScramError),
}

/// What the client is told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) code: SqlState,
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
}

impl Told {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let response = ErrorResponse::fatal(self.code, self.message.as_str());
        match self.hint {
            Some(hint) => response.hint(hint).encode(out),
            None => response.encode(out),
        }
    }
}

impl LoginFailure {
    /// What to tell the client; `None` where the client is gone, or would not understand it.
    pub(super) fn told(&self) -> Option<Told> {
        let (code, hint) = match self {
            Self::Left | Self::TlsNotOffered => return None,
            Self::WrongPassword { .. } => (SqlState::INVALID_PASSWORD, None),
            Self::TlsRequired => (
                SqlState::INVALID_AUTHORIZATION,
                Some("Connect with TLS: with libpq, sslmode=require or above."),
            ),
            Self::CleartextNeedsTls => (
                SqlState::INVALID_AUTHORIZATION,
                Some(
                    "Connect with TLS (with libpq, sslmode=require or above), or have the operator choose scram-sha-256.",
                ),
            ),
            Self::UnsupportedVersion(_) => (SqlState::FEATURE_NOT_SUPPORTED, None),
            Self::Startup { code, .. } => (*code, None),
            Self::Scram(ScramError::Unsupported(_)) => (SqlState::FEATURE_NOT_SUPPORTED, None),
            Self::Scram(ScramError::Downgrade | ScramError::BindingMismatch) => {
                (SqlState::INVALID_AUTHORIZATION, None)
            }
            Self::StuffedBytes { .. }
            | Self::RepeatedNegotiation { .. }
            | Self::FirstPacket(_)
            | Self::Frame(_)
            | Self::OverLimit(_)
            | Self::UnexpectedMessage { .. }
            | Self::Malformed(_)
            | Self::Scram(_) => (SqlState::PROTOCOL_VIOLATION, None),
        };
        Some(Told { code, message: self.to_string(), hint })
    }

    /// Whether the client broke the protocol, rather than being unwelcome or gone.
    pub fn is_misbehaviour(&self) -> bool {
        !matches!(
            self,
            Self::WrongPassword { .. }
                | Self::TlsRequired
                | Self::CleartextNeedsTls
                | Self::Left
                | Self::Startup { .. }
        )
    }
}

impl From<ScramError> for LoginFailure {
    fn from(error: ScramError) -> Self {
        Self::Scram(error)
    }
}
