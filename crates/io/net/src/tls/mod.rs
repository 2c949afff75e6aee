//! TLS with clients and with servers.
//!
//! - [`server`]: TLS with clients; its certificate can be reloaded without a restart.
//! - [`client`]: TLS with servers: libpq's `sslmode`s.
//! - [`session`]: the TLS session of one connection, driven by the event loop.
//! - [`error`]: the errors.

mod binding;
pub mod client;
mod engine;
pub mod error;
mod files;
mod scratch;
pub mod server;
pub mod session;
mod verify;

pub use client::{ClientIdentity, ClientTls, Roots, SslMode};
pub use error::{TlsError, TlsFileError};
pub use server::{ClientAuth, MinProtocol, ServerTls, ServerTlsFiles};
pub use session::{Received, TlsSession};

/// PostgreSQL's name in TLS's application layer protocol negotiation (ALPN). Direct TLS (without an SSLRequest) requires
/// it, so that nobody can trick a browser into sending requests to a database (the ALPACA attack).
pub const ALPN_POSTGRESQL: &[u8] = b"postgresql";
