//! What a login to a server is made with.

use std::sync::Arc;

use trunkline_wire::Limits;
use trunkline_wire::startup::ProtocolVersion;

use crate::authentication::Password;
use crate::authentication::md5::Md5Hash;
use crate::authentication::scram::{ITERATIONS_MAX_DEFAULT, ScramKeys};

/// What we prove ourselves with, when the server asks.
#[derive(Debug, Clone)]
pub enum Credential {
    /// Nothing: the server must not ask.
    None,
    /// A password, good for every method.
    Password {
        /// The password.
        password: Password,
        /// [`ServerReady::scram_keys`](super::ServerReady::scram_keys) of an earlier login with the same password:
        /// spares the derivation when they fit the server's salt, and does no harm when they do not.
        cached: Option<Arc<ScramKeys>>,
    },
    /// The stored form of an md5 password: good for the md5 method alone.
    Md5(Md5Hash),
    /// Keys that a client's own login gave (pass-through): good for SCRAM alone, and only where the server's secret is
    /// the one the client was checked against.
    ScramKeys(Arc<ScramKeys>),
}

/// Whether the connection to the server is to be encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsWish {
    /// Not asked for: `sslmode=disable`, or a Unix socket.
    Never,
    /// Asked for, done without if the server has none.
    Prefer,
    /// Asked for, given up if the server has none.
    Require,
    /// Begun without asking, as PostgreSQL 17 and later allow. The protocol to agree on (ALPN) is `postgresql`.
    Direct,
}

/// Everything about one login to a server.
#[derive(Debug, Clone)]
pub struct ServerLogin {
    /// The user to log in as.
    pub user: String,
    /// The database.
    pub database: String,
    /// Other start-up parameters, in the order to be sent: `client_encoding`, `options`, `replication`...
    pub parameters: Vec<(String, String)>,
    /// What to prove ourselves with.
    pub credential: Credential,
    /// TLS.
    pub tls: TlsWish,
    /// The protocol to ask for; a server that knows only an older one says so and is spoken to in that.
    pub protocol: ProtocolVersion,
    /// Whether the password may be sent as it is without TLS. Fit for Unix sockets and trusted networks.
    pub cleartext_without_tls: bool,
    /// Most SCRAM iterations the server may ask for; see [`ITERATIONS_MAX_DEFAULT`].
    pub scram_iterations_max: u32,
    /// Bounds of what the server may send.
    pub limits: Limits,
}

impl ServerLogin {
    /// A login without TLS, parameters or credential, by protocol 3.0.
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
