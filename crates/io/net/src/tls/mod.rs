//! TLS to clients and to servers.
//!
//! - [`server`]: our certificate, shown to clients; reloaded without a restart.
//! - [`client`]: what we ask of a server's certificate: libpq's `sslmode`s.
//! - [`session`]: one connection's TLS, fed by the event loop.
//! - [`error`]: what can go wrong, for people.

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

/// The protocol's name in TLS's application layer negotiation (ALPN). Direct TLS, without an SSLRequest
/// before it, requires it: it keeps a browser from being tricked into talking to a database (ALPACA).
pub const ALPN_POSTGRESQL: &[u8] = b"postgresql";
