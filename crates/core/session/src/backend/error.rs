//! Why a client's login failed, and the error that the client gets.

use trunkline_wire::backend::ErrorResponse;
use trunkline_wire::startup::{ProtocolVersion, StartupError};
use trunkline_wire::{FrameError, Malformed, OverLimit, SqlState};

use crate::authentication::scram::ScramError;

/// A client's login has failed. If the client gets an error message, the message is in the output buffer already: flush
/// the buffer, then close the connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct LoginError {
    /// What went wrong, for the log. It holds no secret.
    #[from]
    pub failure: LoginFailure,
}

/// What went wrong. In most cases the client broke the protocol: see [`LoginFailure::is_misbehaviour`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginFailure {
    /// The password or the proof is wrong, the user does not exist, or the user has no password. The client cannot
    /// distinguish these cases.
    #[error("password authentication failed for user \"{user}\"")]
    WrongPassword {
        /// The user name that the client gave.
        user: String,
    },
    /// The listener requires TLS, and the client did not use it.
    #[error("this listener requires TLS")]
    TlsRequired,
    /// The client would have to send its password in clear text without TLS.
    #[error("clear text passwords are accepted over TLS only")]
    CleartextNeedsTls,
    /// The client sent Terminate in place of its first packet or of a password message. A client without a password
    /// does the latter.
    #[error("the client left during authentication")]
    Left,
    /// The client began TLS, but the listener does not offer it.
    #[error("the client began TLS, which this listener does not offer")]
    TlsNotOffered,
    /// Bytes came after an SSLRequest or a GSSENCRequest and before the answer. No honest client sends them. If they
    /// were read as part of the encrypted session, an attacker could insert commands as the client (CVE-2021-3935).
    #[error("unencrypted bytes after the {request}: a broken client, or somebody on the way adds bytes")]
    UnencryptedBytes {
        /// The name of the request.
        request: &'static str,
    },
    /// The client sent the same request a second time.
    #[error("a second {request} on one connection")]
    RepeatedNegotiation {
        /// The name of the request.
        request: &'static str,
    },
    /// The client asks for a protocol other than 3.x.
    #[error("protocol {0} is not supported: 3.0 to 3.2 are")]
    UnsupportedVersion(ProtocolVersion),
    /// The first packet has an impossible length or is malformed.
    #[error("{0}")]
    FirstPacket(StartupError),
    /// The start-up packet asks for something that is not possible.
    #[error("{message}")]
    Startup {
        /// The error code.
        code: SqlState,
        /// What is wrong.
        message: String,
    },
    /// A header has a length that no message can have.
    #[error("{0}")]
    Frame(FrameError),
    /// A message is longer than allowed.
    #[error("{0}")]
    OverLimit(OverLimit),
    /// The message is not allowed now.
    #[error("a password message was expected, a message of type '{}' came", tag.escape_ascii())]
    UnexpectedMessage {
        /// The message's type.
        tag: u8,
    },
    /// A password message is malformed.
    #[error("{0}")]
    Malformed(Malformed),
    /// The SCRAM exchange failed for a reason other than a wrong proof.
    #[error(transparent)]
    Scram(ScramError),
}

/// The error that the client gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ErrorForClient {
    pub(super) code: SqlState,
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
}

impl ErrorForClient {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let response = ErrorResponse::fatal(self.code, self.message.as_str());
        match self.hint {
            Some(hint) => response.hint(hint).encode(out),
            None => response.encode(out),
        }
    }
}

impl LoginFailure {
    /// The error for the client; `None` if the client is gone or would not understand an error.
    pub(super) fn error_for_client(&self) -> Option<ErrorForClient> {
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
            Self::UnencryptedBytes { .. }
            | Self::RepeatedNegotiation { .. }
            | Self::FirstPacket(_)
            | Self::Frame(_)
            | Self::OverLimit(_)
            | Self::UnexpectedMessage { .. }
            | Self::Malformed(_)
            | Self::Scram(_) => (SqlState::PROTOCOL_VIOLATION, None),
        };
        Some(ErrorForClient { code, message: self.to_string(), hint })
    }

    /// Whether the client broke the protocol. It did not if it was only refused, or has left.
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
