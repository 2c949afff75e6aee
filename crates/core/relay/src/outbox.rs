//! Bytes that wait for the end of a loop turn, or for a slow reader.

/// What a connection is still to be sent.
///
/// ```text
///   0          sent                 len
///   |  gone     |  pending           |
/// ```
/// An empty outbox holds no memory: an idle connection has no buffer.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    /// Whether the connection is on the list of those to write to.
    pub(crate) listed: bool,
}

/// Capacity of a fresh outbox: most turns fit, and a second allocation is spared.
const FIRST_BYTES: usize = 1024;

impl Outbox {
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

    /// What is to be sent.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Whether nothing is to be sent.
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
            self.bytes = Vec::new();
            self.sent = 0;
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
}
