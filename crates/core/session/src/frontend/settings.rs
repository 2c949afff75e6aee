//! The settings of a login to a server.

use std::sync::Arc;

use trunkline_wire::Limits;
use trunkline_wire::startup::ProtocolVersion;

use crate::authentication::Password;
use crate::authentication::md5::Md5Hash;
use crate::authentication::scram::{ITERATIONS_MAX_DEFAULT, ScramKeys};

/// The credential with which we answer a server that asks for a proof.
#[derive(Debug, Clone)]
pub enum Credential {
    /// No credential: the server must not ask for a proof.
    None,
    /// A password. Every method accepts it.
    Password {
        /// The password.
        password: Password,
        /// [`ServerReady::scram_keys`](super::ServerReady::scram_keys) of an earlier login with the same password. If
        /// the server's salt is still the same, no keys must be derived. If not, these keys are ignored.
        cached: Option<Arc<ScramKeys>>,
    },
    /// The stored form of an md5 password. Only the md5 method accepts it.
    Md5(Md5Hash),
    /// Keys from a client's login to us. Only SCRAM accepts them, and only if the server has the same secret for the
    /// user with which we checked the client.
    ScramKeys(Arc<ScramKeys>),
}

/// Whether we ask the server for TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsWish {
    /// We do not ask for TLS: `sslmode=disable`, or a Unix socket.
    Never,
    /// We ask for TLS, and continue without it if the server does not offer it.
    Prefer,
    /// We ask for TLS, and the login fails if the server does not offer it.
    Require,
    /// We begin TLS without asking, which PostgreSQL 17 and later allow. The application protocol (ALPN) is
    /// `postgresql`.
    Direct,
}

/// The settings of one login to a server.
#[derive(Debug, Clone)]
pub struct ServerLogin {
    /// The user to log in as.
    pub user: String,
    /// The database.
    pub database: String,
    /// Other start-up parameters, in the order in which they are sent: `client_encoding`, `options`, `replication`...
    pub parameters: Vec<(String, String)>,
    /// Our credential.
    pub credential: Credential,
    /// Whether we ask for TLS.
    pub tls: TlsWish,
    /// The protocol version that we ask for. If the server names an older one, we use that.
    pub protocol: ProtocolVersion,
    /// Whether we may send the password in clear text without TLS. Only for Unix sockets and trusted networks.
    pub cleartext_without_tls: bool,
    /// The highest SCRAM iteration count that the server may ask for; see [`ITERATIONS_MAX_DEFAULT`].
    pub scram_iterations_max: u32,
    /// The limits on what the server may send.
    pub limits: Limits,
}

impl ServerLogin {
    /// A login with protocol 3.0, without TLS, parameters or credential.
    pub fn new(user: impl Into<String>, database: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            database: database.into(),
            parameters: Vec::new(),
            credential: Credential::None,
            tls: TlsWish::Never,
            protocol: ProtocolVersion::V3_0,
            cleartext_without_tls: false,
            scram_iterations_max: ITERATIONS_MAX_DEFAULT,
            limits: Limits::default(),
        }
    }
}
