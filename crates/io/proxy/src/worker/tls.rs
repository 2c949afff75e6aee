//! The certificates and keys in force.

use std::sync::Arc;

use trunkline_net::tls::{ClientTls, ServerTls};

/// TLS towards clients and servers. A reload makes a new one.
#[derive(Clone, Default)]
pub struct TlsSet {
    /// For clients; absent: not offered.
    pub clients: Option<Arc<ServerTls>>,
    /// For servers, by `Target::tls_profile`.
    pub servers: Vec<Arc<ClientTls>>,
}
