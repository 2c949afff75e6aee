//! The sockets, as far as the core is lent them.

use crate::keys::{ClientKey, ServerKey};

/// The sockets, as far as large runs of bytes are passed to them without a copy.
pub trait Wires {
    /// Sends to a client; returns how many bytes were taken (0 when it would block or is gone: what
    /// happened to it is reported like any other event, later).
    fn send_client(&mut self, client: ClientKey, bytes: &[u8]) -> usize;
    /// Sends to a server, likewise.
    fn send_server(&mut self, server: ServerKey, bytes: &[u8]) -> usize;
}
