//! TLS with servers: libpq's `sslmode`s.

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
    /// First without TLS; with TLS if the server refuses that.
    Allow,
    /// With TLS if the server offers it, else without.
    #[default]
    Prefer,
    /// Always TLS. The certificate is not checked, unless a root file is given; then it is checked as for `verify-ca`.
    Require,
    /// Always TLS, with a certificate whose chain leads to a root.
    VerifyCa,
    /// As `verify-ca`, with a certificate for the server's host.
    VerifyFull,
}

impl SslMode {
    /// Every mode, the weakest first.
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

    /// Whether the first attempt to connect over TCP asks for TLS. (With `allow`, only the second attempt does.)
    pub fn asks_first(self) -> bool {
        self >= Self::Prefer
    }

    /// Whether the attempt fails if the server answers the SSLRequest with `N`.
    pub fn insists(self) -> bool {
        self >= Self::Require
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not an `sslmode`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSslMode {
    given: Box<str>,
}

impl fmt::Display for UnknownSslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not an sslmode; the modes are", self.given)?;
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

/// The authorities that are trusted to sign servers' certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    /// `sslrootcert=system`: the authorities that the operating system trusts. Only with `verify-full`, as in libpq.
    System,
    /// The authorities in a PEM file.
    File(PathBuf),
}

/// The certificate to show to servers that ask for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// PEM: the certificate itself, then its issuers.
    pub cert: PathBuf,
    /// PEM: the key of the first certificate, without a passphrase.
    pub key: PathBuf,
}

/// TLS with servers, for one set of options. All workers share it. To reload the files, make a new one.
#[derive(Debug)]
pub struct ClientTls {
    mode: SslMode,
    checks_name: bool,
    config: Arc<ClientConfig>,
}

impl ClientTls {
    /// Reads and checks the files. With a root file the chain is checked in every mode, as libpq does.
    /// [`SslMode::Disable`] uses no TLS, but its files are checked, too, so that faults in them are found.
    ///
    /// # Errors
    /// A file is wrong, or two options contradict each other.
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
            // As libpq: a root file is used in every mode. In the modes below `require`, the connection goes on without TLS
            // if the check fails.
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
        // PostgreSQL gives no tickets (it sets SSL_OP_NO_TICKET), so no session can be resumed.
        config.resumption = Resumption::disabled();
        Ok(Arc::new(Self { mode, checks_name: check == Check::ChainAndName, config: Arc::new(config) }))
    }

    /// The mode that was given to [`ClientTls::new`].
    pub fn mode(&self) -> SslMode {
        self.mode
    }

    /// A session with a server. Its first message is ready to [`flush`](TlsSession::flush). `host` is the configured name
    /// or address, not a looked-up address. A host name is sent as SNI; an address is not.
    ///
    /// # Errors
    /// [`TlsError::BadServerName`]: the mode checks the name, but `host` is not a valid name.
    pub fn connect(&self, host: &str) -> Result<TlsSession, TlsError> {
        let name = match ServerName::try_from(host) {
            Ok(name) => name.to_owned(),
            Err(_) if self.checks_name => return Err(TlsError::BadServerName { host: host.into() }),
            // Nothing checks this name, and an address is not sent as SNI.
            Err(_) => ServerName::IpAddress(IpAddr::V4(Ipv4Addr::UNSPECIFIED).into()),
        };
        TlsSession::client(Arc::clone(&self.config), name)
    }
}

fn system_roots() -> Result<RootCertStore, TlsFileError> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    // Some systems have certificates that cannot be parsed. They are left out; the others are still good.
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let reason = found.errors.first().map_or_else(|| "there are none".to_owned(), ToString::to_string);
        return Err(TlsFileError::SystemRoots { reason });
    }
    Ok(store)
}
