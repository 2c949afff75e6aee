//! Our side of TLS towards servers: libpq's `sslmode`s.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::ServerName;

use super::error::{TlsError, TlsFileError};
use super::session::TlsSession;
use super::verify::{Check, SslModeVerifier};
use super::{ALPN_POSTGRESQL, files};

/// libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// Without TLS first; with it if the server refuses that.
    Allow,
    /// With TLS if the server has it, without if not.
    #[default]
    Prefer,
    /// TLS or nothing. The certificate is not checked, unless a root file is given: then as `verify-ca`.
    Require,
    /// TLS, and the certificate's chain leads to a root.
    VerifyCa,
    /// As `verify-ca`, and the certificate is for the host we dialled.
    VerifyFull,
}

impl SslMode {
    /// Every mode, weakest first, as an error message may list them.
    pub const ALL: [Self; 6] =
        [Self::Disable, Self::Allow, Self::Prefer, Self::Require, Self::VerifyCa, Self::VerifyFull];

    /// libpq's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Allow => "allow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }

    /// Whether the first attempt at a TCP server asks for TLS. (`allow` does when that attempt was refused.)
    pub fn asks_first(self) -> bool {
        self >= Self::Prefer
    }

    /// Whether a server that answers the SSLRequest with `N` is given up.
    pub fn insists(self) -> bool {
        self >= Self::Require
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no `sslmode`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSslMode {
    given: Box<str>,
}

impl fmt::Display for UnknownSslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no sslmode; there are", self.given)?;
        for (index, mode) in SslMode::ALL.into_iter().enumerate() {
            write!(f, "{}{mode}", if index == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownSslMode {}

impl FromStr for SslMode {
    type Err = UnknownSslMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| UnknownSslMode { given: text.into() })
    }
}

/// Which authorities may have signed a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// `sslrootcert=system`: those the operating system trusts. Only with `verify-full`, as in libpq.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

/// A certificate of our own to show to servers that ask for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// PEM: our certificate, then its issuers.
    pub cert: PathBuf,
    /// PEM: the key of the first certificate, without a passphrase.
    pub key: PathBuf,
}

/// TLS towards servers, one for each set of options, shared by all workers. To reload, make a new one.
#[derive(Debug)]
pub struct ClientTls {
    mode: SslMode,
    checks_name: bool,
    config: Arc<ClientConfig>,
}

impl ClientTls {
    /// Reads and checks the files. With a root file the chain is checked in every mode, as libpq does. For
    /// [`SslMode::Disable`] there is no need of one; it is made all the same, so that wrong files are
    /// found.
    ///
    /// # Errors
    /// Which file is wrong and how, or which options do not go together.
    pub fn new(
        mode: SslMode,
        roots: Option<&Roots>,
        identity: Option<&ClientIdentity>,
    ) -> Result<Arc<Self>, TlsFileError> {
        let provider = files::provider();
        let check = match (mode, roots) {
            (SslMode::VerifyFull, Some(_)) => Check::ChainAndName,
            (SslMode::VerifyCa | SslMode::VerifyFull, None) => {
                return Err(TlsFileError::RootMissing { mode });
            }
            (_, Some(Roots::System)) => return Err(TlsFileError::SystemRootsNeedVerifyFull { mode }),
            // As libpq: a root file is used in every mode. Below `require` a certificate that fails it
            // costs only the encryption, since those modes then go on without TLS.
            (_, Some(Roots::File(_))) => Check::Chain,
            (_, None) => Check::Nothing,
        };
        let (store, certificates) = match roots {
            None => (RootCertStore::empty(), Vec::new()),
            Some(Roots::File(path)) => files::roots("root certificate", path)?,
            Some(Roots::System) => (system_roots()?, Vec::new()),
        };
        let verifier = SslModeVerifier::new(check, store, certificates, &provider);
        let setup = |error: rustls::Error| TlsFileError::Setup { reason: error.to_string() };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(setup)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some(files) => {
                let key = files::identity(&files.cert, &files.key, &provider)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
            }
        };
        config.alpn_protocols = vec![ALPN_POSTGRESQL.to_vec()];
        // PostgreSQL gives no tickets (it sets SSL_OP_NO_TICKET), so there is nothing to keep.
        config.resumption = Resumption::disabled();
        Ok(Arc::new(Self { mode, checks_name: check == Check::ChainAndName, config: Arc::new(config) }))
    }

    /// The mode it was made for.
    pub fn mode(&self) -> SslMode {
        self.mode
    }

    /// A session with a server; its first flight is ready to [`flush`](TlsSession::flush). `host` is the
    /// name or address that was asked for, not what it resolved to. A host name is sent as SNI, an address
    /// is not.
    ///
    /// # Errors
    /// [`TlsError::BadServerName`] where the name would have to be checked and cannot be.
    pub fn connect(&self, host: &str) -> Result<TlsSession, TlsError> {
        let name = match ServerName::try_from(host) {
            Ok(name) => name.to_owned(),
            Err(_) if self.checks_name => return Err(TlsError::BadServerName { host: host.into() }),
            // Nothing looks at it, and an address is not sent as SNI.
            Err(_) => ServerName::IpAddress(IpAddr::V4(Ipv4Addr::UNSPECIFIED).into()),
        };
        TlsSession::client(Arc::clone(&self.config), name)
    }
}

fn system_roots() -> Result<RootCertStore, TlsFileError> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    // Some systems carry certificates that do not parse; the others are good all the same.
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reason = found.errors.first().map_or_else(|| "there are none".to_owned(), ToString::to_string);
        return Err(TlsFileError::SystemRoots { reason });
    }
    Ok(store)
}
