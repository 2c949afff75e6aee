//! How the board sends many bytes at once without copying them.

use crate::keys::{ClientKey, ServerKey};

/// Sockets to which the board can send a slice of bytes directly, instead of copying the bytes to an outbox.
pub trait DirectSend {
    /// Sends to a client and returns how many bytes the socket took. It returns 0 if the socket would block or is
    /// closed; the board learns of that later, from an event.
    fn send_client(&mut self, client: ClientKey, bytes: &[u8]) -> usize;
    /// Sends to a server in the same way.
    fn send_server(&mut self, server: ServerKey, bytes: &[u8]) -> usize;
}
