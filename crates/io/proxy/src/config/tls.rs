//! `[tls.client]` and `[tls.server]`: TLS with clients and with servers.

use std::path::PathBuf;

use super::modes::{SslMode, TlsVersion};
use super::section::section;
use super::setting::{MayBeAbsent, Refusal, Setting};
use super::value::Value;

section! {
    /// `[tls.client]`: TLS between clients and Trunkline.
    pub struct ClientTls {
        /// Whether clients must use TLS and show a certificate.
        mode: SslMode = SslMode::Disable,
        /// Trunkline's certificate chain, PEM.
        cert: Option<PathBuf> = None,
        /// The key of `cert`, PEM.
        key: Option<PathBuf> = None,
        /// Authorities whose client certificates are trusted, PEM.
        ca: Option<PathBuf> = None,
        /// The lowest TLS version that is allowed.
        min_protocol: TlsVersion = TlsVersion::Tls12,
    }
}

section! {
    /// `[tls.server]`: TLS between Trunkline and servers.
    pub struct ServerTls {
        /// libpq's `sslmode`.
        sslmode: SslMode = SslMode::Prefer,
        /// Authorities whose server certificates are trusted.
        root: Option<RootCertificates> = None,
        /// Trunkline's certificate chain, PEM, for servers that ask for one.
        cert: Option<PathBuf> = None,
        /// The key of `cert`, PEM.
        key: Option<PathBuf> = None,
    }
}

/// Where trusted authorities come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootCertificates {
    /// `"system"`: the operating system's authorities.
    System,
    /// A PEM file.
    File(PathBuf),
}

impl RootCertificates {
    pub(super) fn from_text(text: &str) -> Self {
        if text == "system" { Self::System } else { Self::File(PathBuf::from(text)) }
    }
}

impl Setting for RootCertificates {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        match value.as_text() {
            Some(text) if !text.is_empty() && !text.contains('\0') => Ok(Self::from_text(text)),
            _ => Err(Refusal::expected("\"system\" or the path of a PEM file", value)),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::System => "\"system\"".to_owned(),
            Self::File(path) => path.show(),
        }
    }
}

impl MayBeAbsent for RootCertificates {}
