//! TLS with clients: the certificate that they see, and the check of theirs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::SingleCertAndKey;
use rustls::{ServerConfig, SupportedProtocolVersion, crypto, version};

use super::error::{TlsError, TlsFileError};
use super::session::TlsSession;
use super::{ALPN_POSTGRESQL, binding, files};

/// TLS 1.3 tickets that a client gets after a handshake. libpq never resumes a session; other drivers use each ticket for
/// one connection.
const TICKETS_PER_HANDSHAKE: usize = 1;

/// Whether clients need a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// Clients are not asked for a certificate.
    #[default]
    Off,
    /// Clients are asked for a certificate. A client may have none, but a certificate that it shows must be valid.
    Optional,
    /// A client without a valid certificate is refused.
    Required,
}

/// The oldest TLS version that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MinProtocol {
    /// TLS 1.2, PostgreSQL's default.
    #[default]
    Tls12,
    /// TLS 1.3 only.
    Tls13,
}

/// The files and options of TLS with clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTlsFiles {
    /// PEM: the certificate itself, then its issuers.
    pub cert: PathBuf,
    /// PEM: the key of the first certificate, without a passphrase.
    pub key: PathBuf,
    /// PEM: the authorities whose client certificates are trusted. Needed unless `client_auth` is off.
    pub client_ca: Option<PathBuf>,
    /// Whether clients need a certificate.
    pub client_auth: ClientAuth,
    /// The oldest TLS version that is allowed.
    pub min_protocol: MinProtocol,
}

/// TLS with clients, shared by all workers. Each new session takes its lock once, to copy some pointers.
#[derive(Debug)]
pub struct ServerTls {
    loaded: Mutex<Loaded>,
}

#[derive(Debug, Clone)]
struct Loaded {
    files: Arc<ServerTlsFiles>,
    config: Arc<ServerConfig>,
    binding: Option<Arc<[u8]>>,
}

impl ServerTls {
    /// Reads and checks the files.
    ///
    /// # Errors
    /// A file cannot be used; the error names it and says why.
    pub fn load(files: ServerTlsFiles) -> Result<Arc<Self>, TlsFileError> {
        Ok(Arc::new(Self { loaded: Mutex::new(build(files.into())?) }))
    }

    /// Reads the same files again. Existing sessions keep the old certificate; new sessions get the new one.
    ///
    /// # Errors
    /// A new file cannot be used. The old certificate then stays in use.
    pub fn reload(&self) -> Result<(), TlsFileError> {
        let files = Arc::clone(&self.loaded().files);
        self.replace(build(files)?);
        Ok(())
    }

    /// As [`reload`](Self::reload), with other files.
    ///
    /// # Errors
    /// A new file cannot be used. The old certificate then stays in use.
    pub fn reload_from(&self, files: ServerTlsFiles) -> Result<(), TlsFileError> {
        self.replace(build(files.into())?);
        Ok(())
    }

    /// A session with a client that has just connected, or that has just asked for TLS.
    ///
    /// # Errors
    /// [`TlsError::Internal`] only.
    pub fn accept(&self) -> Result<TlsSession, TlsError> {
        let loaded = self.loaded();
        TlsSession::server(loaded.config, loaded.binding)
    }

    fn loaded(&self) -> Loaded {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, loaded: Loaded) {
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = loaded;
    }
}

fn build(files: Arc<ServerTlsFiles>) -> Result<Loaded, TlsFileError> {
    let setup = |error: rustls::Error| TlsFileError::Setup { reason: error.to_string() };
    let provider = files::provider();
    let identity = files::identity(&files.cert, &files.key, &provider)?;
    let binding = identity.cert.first().and_then(|own| binding::tls_server_end_point(own)).map(Arc::from);
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions(files.min_protocol))
        .map_err(setup)?;
    let builder = match client_verifier(&files)? {
        None => builder.with_no_client_auth(),
        Some(verifier) => builder.with_client_cert_verifier(verifier),
    };
    let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
    config.alpn_protocols = vec![ALPN_POSTGRESQL.to_vec()];
    // With tickets the server stores nothing for a client. Each load makes a new ticket key, so that a client with a ticket
    // from before a reload is checked against the new client authorities.
    config.ticketer = crypto::ring::Ticketer::new().map_err(setup)?;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = TICKETS_PER_HANDSHAKE;
    Ok(Loaded { files, config: Arc::new(config), binding })
}

fn client_verifier(files: &ServerTlsFiles) -> Result<Option<Arc<dyn ClientCertVerifier>>, TlsFileError> {
    if files.client_auth == ClientAuth::Off {
        return Ok(None);
    }
    let path = files.client_ca.as_ref().ok_or(TlsFileError::ClientCaMissing)?;
    let (roots, _) = files::roots("client CA", path)?;
    let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), files::provider());
    if files.client_auth == ClientAuth::Optional {
        builder = builder.allow_unauthenticated();
    }
    builder.build().map(Some).map_err(|error| TlsFileError::Content {
        what: "client CA",
        path: path.clone(),
        reason: error.to_string(),
    })
}

fn versions(min: MinProtocol) -> &'static [&'static SupportedProtocolVersion] {
    static FROM_12: [&SupportedProtocolVersion; 2] = [&version::TLS13, &version::TLS12];
    static FROM_13: [&SupportedProtocolVersion; 1] = [&version::TLS13];
    match min {
        MinProtocol::Tls12 => &FROM_12,
        MinProtocol::Tls13 => &FROM_13,
    }
}
