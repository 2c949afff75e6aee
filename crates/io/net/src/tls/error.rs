//! The errors of TLS, for the person who must correct them.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rustls::CertificateError;

use super::client::SslMode;

/// A certificate or key file, or a combination of them, that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum TlsFileError {
    /// The file cannot be read.
    Read {
        /// What the file is for, such as `certificate`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file's content is not what it should be.
    Content {
        /// What the file is for, such as `certificate`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it. It never quotes the content.
        reason: String,
    },
    /// The private key belongs to another certificate.
    KeyMismatch {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// Client certificates are to be checked, but no CA file is given.
    ClientCaMissing,
    /// The `sslmode` checks the chain, but no root certificate is given.
    RootMissing {
        /// The mode asked for.
        mode: SslMode,
    },
    /// `sslrootcert=system` with a mode weaker than `verify-full`: anybody can get a certificate from a
    /// public authority.
    SystemRootsNeedVerifyFull {
        /// The mode asked for.
        mode: SslMode,
    },
    /// The system has no root certificates, or they cannot be read.
    SystemRoots {
        /// The system's message.
        reason: String,
    },
    /// Only one of certificate and key is given.
    HalfIdentity,
    /// rustls refuses the options.
    Setup {
        /// rustls's message.
        reason: String,
    },
}

impl fmt::Display for TlsFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { what, path, error } => {
                write!(f, "cannot read {what} file {}: {error}", path.display())
            }
            Self::Content { what, path, reason } => write!(f, "{what} file {}: {reason}", path.display()),
            Self::KeyMismatch { cert, key } => write!(
                f,
                "the private key in {} does not belong to the certificate in {} (the first certificate of \
                 that file must be the one that belongs to the key; its issuers follow it)",
                key.display(),
                cert.display()
            ),
            Self::ClientCaMissing => f.write_str(
                "client certificates are to be checked: a CA file to check them against is needed, too",
            ),
            Self::RootMissing { mode } => write!(
                f,
                "sslmode {mode} needs a root certificate: give its file, or sslrootcert=system, or use sslmode require"
            ),
            Self::SystemRootsNeedVerifyFull { mode } => write!(
                f,
                "sslmode {mode} may not be used with sslrootcert=system: use verify-full, or a file with your own authority"
            ),
            Self::SystemRoots { reason } => write!(f, "cannot load the system's root certificates: {reason}"),
            Self::HalfIdentity => {
                f.write_str("a certificate needs its key and a key its certificate: give both or neither")
            }
            Self::Setup { reason } => write!(f, "TLS cannot be set up: {reason}"),
        }
    }
}

impl std::error::Error for TlsFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Why a session failed. [`TlsSession`](super::TlsSession) returns it inside an [`io::Error`] of kind
/// [`io::ErrorKind::InvalidData`]; [`TlsError::of`] finds it there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TlsError {
    /// The peer's certificate is not accepted.
    CertificateRefused {
        /// Why, to be written after a colon.
        reason: String,
    },
    /// The peer ended the handshake or session with an alert.
    PeerRefused {
        /// A description of the alert.
        reason: String,
    },
    /// The peer violated the protocol, or does not speak TLS.
    PeerMisbehaved {
        /// What it did.
        reason: String,
    },
    /// A handshake message larger than
    /// [`CLIENT_MESSAGE_BYTES_MAX`](super::session::CLIENT_MESSAGE_BYTES_MAX) or
    /// [`SERVER_MESSAGE_BYTES_MAX`](super::session::SERVER_MESSAGE_BYTES_MAX).
    MessageTooLarge,
    /// The host name cannot be checked against a certificate.
    BadServerName {
        /// The name.
        host: Box<str>,
    },
    /// The caller tried to send after its own close_notify.
    AlreadyClosed,
    /// A bug on this side, not a fault of the peer.
    Internal {
        /// rustls's message.
        reason: String,
    },
}

impl TlsError {
    /// The TLS error inside an I/O error; `None` if there is none.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    pub(crate) fn into_io(self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, self)
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CertificateRefused { reason } => {
                write!(f, "TLS: the peer's certificate is refused: {reason}")
            }
            Self::PeerRefused { reason } => write!(f, "TLS: the peer refused the connection: {reason}"),
            Self::PeerMisbehaved { reason } => write!(f, "TLS: the peer violated the protocol: {reason}"),
            Self::MessageTooLarge => f.write_str("TLS: the peer's handshake message is too large"),
            Self::BadServerName { host } => {
                write!(
                    f,
                    "TLS: \"{host}\" is not a host name or address, so the name in the certificate cannot be checked"
                )
            }
            Self::AlreadyClosed => {
                f.write_str("TLS: this side has closed the session; nothing more can be sent")
            }
            Self::Internal { reason } => write!(f, "TLS: {reason}"),
        }
    }
}

impl std::error::Error for TlsError {}

impl From<rustls::Error> for TlsError {
    fn from(error: rustls::Error) -> Self {
        use rustls::Error as E;
        match error {
            E::InvalidCertificate(error) => Self::CertificateRefused { reason: explain_certificate(&error) },
            E::NoCertificatesPresented => {
                Self::CertificateRefused { reason: "the peer has shown none, but one is required".to_owned() }
            }
            E::AlertReceived(alert) => Self::PeerRefused { reason: format!("it sent the alert {alert:?}") },
            E::PeerIncompatible(_) | E::NoApplicationProtocol => {
                Self::PeerMisbehaved { reason: format!("no version, cipher or protocol in common ({error})") }
            }
            E::InvalidMessage(_) => {
                Self::PeerMisbehaved { reason: format!("it sent bytes that are not TLS ({error})") }
            }
            E::InappropriateMessage { .. }
            | E::InappropriateHandshakeMessage { .. }
            | E::PeerMisbehaved(_)
            | E::DecryptError
            | E::PeerSentOversizedRecord => Self::PeerMisbehaved { reason: error.to_string() },
            error => Self::Internal { reason: error.to_string() },
        }
    }
}

fn explain_certificate(error: &CertificateError) -> String {
    use CertificateError as C;
    match error {
        C::UnknownIssuer => "no certificate we trust has signed it".to_owned(),
        C::Expired | C::ExpiredContext { .. } => "it has expired".to_owned(),
        C::NotValidYet | C::NotValidYetContext { .. } => "it is not valid yet (is a clock wrong?)".to_owned(),
        C::NotValidForName | C::NotValidForNameContext { .. } => format!("it is for another host ({error})"),
        C::BadSignature => "its signature is wrong".to_owned(),
        C::BadEncoding => "it cannot be parsed".to_owned(),
        C::InvalidPurpose | C::InvalidPurposeContext { .. } => "it is not meant for this use".to_owned(),
        other => other.to_string(),
    }
}
