//! Bytes that we write at the end of an event, or when a slow peer reads again.

/// Bytes that we must still send on a connection.
///
/// ```text
///   0          sent                 len
///   |  gone     |  pending           |
/// ```
/// An empty outbox uses no memory, so an idle client has no buffer. Server connections are few, and keep a small buffer.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    /// Whether a small buffer is kept after all bytes were sent.
    keeps: bool,
    /// Whether the connection is on the board's list of connections that have unsent bytes.
    pub(crate) listed: bool,
}

/// The first capacity of a buffer: most turns fit, and need no second allocation.
const FIRST_BYTES: usize = 1024;
/// A buffer of more than this capacity is never kept.
const KEPT_BYTES: usize = 4096;

impl Outbox {
    /// An outbox that keeps a small buffer when it is empty.
    pub(crate) fn keeping() -> Self {
        Self { keeps: true, ..Self::default() }
    }

    /// Adds bytes at the end.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer().extend_from_slice(bytes);
    }

    /// The buffer, to encode into its end.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(FIRST_BYTES);
        }
        &mut self.bytes
    }

    /// The bytes that must still be sent.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Whether all bytes were sent.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }

    /// The first `count` pending bytes are sent.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.bytes.len());
        if self.is_empty() {
            self.sent = 0;
            if self.keeps && self.bytes.capacity() <= KEPT_BYTES {
                self.bytes.clear();
            } else {
                self.bytes = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_outbox_holds_no_memory() {
        let mut outbox = Outbox::default();
        outbox.push(b"hello");
        outbox.advance(2);
        assert_eq!(outbox.pending(), b"llo");
        outbox.push(b"!");
        outbox.advance(4);
        assert!(outbox.is_empty() && outbox.bytes.capacity() == 0);
    }

    #[test]
    fn only_a_small_buffer_is_kept() {
        let mut outbox = Outbox::keeping();
        outbox.push(b"hello");
        outbox.advance(5);
        assert!(outbox.is_empty() && outbox.bytes.capacity() == FIRST_BYTES);
        outbox.push(&[0; KEPT_BYTES + 1]);
        outbox.advance(KEPT_BYTES + 1);
        assert!(outbox.is_empty() && outbox.bytes.capacity() == 0);
    }
}
