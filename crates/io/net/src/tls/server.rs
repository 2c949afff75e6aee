//! Our side of TLS towards clients: a certificate, and what we ask of theirs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::SingleCertAndKey;
use rustls::{ServerConfig, SupportedProtocolVersion, crypto, version};

use super::error::{TlsError, TlsFileError};
use super::session::TlsSession;
use super::{ALPN_POSTGRESQL, binding, files};

/// TLS 1.3 tickets a client gets after a handshake. libpq never resumes; drivers that do come back with
/// one connection a ticket.
const TICKETS_PER_HANDSHAKE: usize = 1;

/// What is asked of a client's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// No certificate is asked for.
    #[default]
    Off,
    /// One is asked for; a client may have none, but one that it shows must be good.
    Optional,
    /// Without a good certificate there is no session.
    Required,
}

/// The oldest TLS version that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MinProtocol {
    /// TLS 1.2, as PostgreSQL's own default.
    #[default]
    Tls12,
    /// TLS 1.3 only.
    Tls13,
}

/// Which files make up our side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTlsFiles {
    /// PEM: our certificate, then its issuers.
    pub cert: PathBuf,
    /// PEM: the key of the first certificate, without a passphrase.
    pub key: PathBuf,
    /// PEM: the authorities whose client certificates are good. Needed unless `client_auth` is off.
    pub client_ca: Option<PathBuf>,
    /// What is asked of clients.
    pub client_auth: ClientAuth,
    /// The oldest TLS version that is spoken.
    pub min_protocol: MinProtocol,
}

/// TLS towards clients, shared by all workers. A lock is taken once a session, to read a pointer.
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
    /// Which file, and what is wrong with it.
    pub fn load(files: ServerTlsFiles) -> Result<Arc<Self>, TlsFileError> {
        Ok(Arc::new(Self { loaded: Mutex::new(build(files.into())?) }))
    }

    /// Reads the same files again. Sessions that exist go on as they are; new ones get the new certificate.
    ///
    /// # Errors
    /// What is wrong with the new files; the old ones stay in use then.
    pub fn reload(&self) -> Result<(), TlsFileError> {
        let files = Arc::clone(&self.loaded().files);
        self.replace(build(files)?);
        Ok(())
    }

    /// As [`reload`](Self::reload), with other files.
    ///
    /// # Errors
    /// What is wrong with the new files; the old ones stay in use then.
    pub fn reload_from(&self, files: ServerTlsFiles) -> Result<(), TlsFileError> {
        self.replace(build(files.into())?);
        Ok(())
    }

    /// A session with a client that has just connected or just asked for TLS.
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
    // Tickets keep nothing here for a client that does not come back. A new key is made for them with each load, so a
    // ticket from before a reload cannot slip past the new client authorities.
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
