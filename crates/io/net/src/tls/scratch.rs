//! The buffers of a thread for TLS.
//!
//! Encrypted bytes pass through these buffers between socket and session. A session has a buffer of its own only while it
//! needs one (for half a record, or for bytes that the socket did not take), so an idle session has none.

use std::cell::RefCell;

/// Most encrypted bytes that are read from a socket at once.
pub(super) const READ_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static INCOMING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTGOING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Lends a buffer of at least `len` bytes for received bytes. It has old content of other sessions.
pub(super) fn incoming<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    INCOMING.with_borrow_mut(|buffer| lend(buffer, len, work))
}

/// Lends a buffer of at least `len` bytes for bytes to send. It has old content of other sessions.
pub(super) fn outgoing<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    OUTGOING.with_borrow_mut(|buffer| lend(buffer, len, work))
}

fn lend<T>(buffer: &mut Vec<u8>, len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    work(buffer)
}
