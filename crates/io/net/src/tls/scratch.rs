//! Working space for TLS, one a thread.
//!
//! Encrypted bytes pass through here on their way between socket and session. A session keeps bytes of its
//! own only while it has to (half a record, or what the socket would not take), so an idle one has no
//! buffer at all.

use std::cell::RefCell;

/// Encrypted bytes that are read from a socket at a time.
pub(super) const READ_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static INCOMING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTGOING: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Lends a buffer of at least `len` bytes for what comes in. Its content is left over from others.
pub(super) fn incoming<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    INCOMING.with_borrow_mut(|buffer| lend(buffer, len, work))
}

/// Lends a buffer of at least `len` bytes for what goes out. Its content is left over from others.
pub(super) fn outgoing<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    OUTGOING.with_borrow_mut(|buffer| lend(buffer, len, work))
}

fn lend<T>(buffer: &mut Vec<u8>, len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    work(buffer)
}
