//! Everything about sockets: connecting, listening, TLS and DNS.
//!
//! No call blocks: each does what is possible now and returns. The proxy's workers own the event loop (mio,
//! edge-triggered) and call this crate when a socket is ready. The crate starts one thread, that of the
//! [`resolve::Resolver`], because the system's name lookup blocks.
//!
//! - [`stream`]: one connection, TCP or unix.
//! - [`listen`]: listening sockets, and the files of unix sockets.
//! - [`dial`]: addresses of servers, and connecting to them.
//! - [`resolve`]: host names to addresses, on a thread of its own.
//! - [`tls`]: certificates, libpq's `sslmode`s, and a TLS session that fits an edge-triggered loop.

pub mod dial;
pub mod listen;
pub mod resolve;
pub mod stream;
pub mod tls;
