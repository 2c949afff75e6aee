//! The certificates and keys in force.

use std::sync::Arc;

use trunkline_net::tls::{ClientTls, ServerTls};

/// The TLS settings for clients and servers. A reload makes a new set.
#[derive(Clone, Default)]
pub struct TlsSet {
    /// TLS with clients; `None`: it is not offered.
    pub clients: Option<Arc<ServerTls>>,
    /// TLS with servers. The index is `Target::tls_profile`.
    pub servers: Vec<Arc<ClientTls>>,
}
