//! What touches sockets: dialling, listening, TLS and DNS.
//!
//! Nothing here waits and nothing here loops: every call does what can be done now and returns. The proxy's
//! workers own the event loop (mio, edge-triggered) and call in when a socket is ready. The one thread
//! this crate starts is the [`resolve::Resolver`]'s, because the system's name lookup cannot but block.
//!
//! - [`stream`]: one connection, TCP or unix.
//! - [`listen`]: listening sockets, and unix socket files that are cleaned up.
//! - [`dial`]: where a server is, and a connection on its way there.
//! - [`resolve`]: host names to addresses, on a thread of its own.
//! - [`tls`]: certificates, libpq's `sslmode`s, and a TLS session that fits an edge-triggered loop.

pub mod dial;
pub mod listen;
pub mod resolve;
pub mod stream;
pub mod tls;
