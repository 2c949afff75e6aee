//! Bytes that a peer sent and that we cannot process yet.

/// Bytes that we received and have not processed yet.
///
/// ```text
///   0          done                 len
///   |  gone     |  waiting           |
/// ```
/// We process it from the beginning in small pieces. The waiting bytes move to the front only when more than half of the
/// buffer is done. An empty inbox uses no memory, and a few waiting bytes do not keep a large buffer.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    done: usize,
}

impl Inbox {
    /// Adds received bytes at the end.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The bytes that wait.
    pub(crate) fn waiting(&self) -> &[u8] {
        &self.bytes[self.done..]
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.done
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.len() == self.done
    }

    /// The first `count` waiting bytes are processed.
    pub(crate) fn advance(&mut self, count: usize) {
        self.done = (self.done + count).min(self.bytes.len());
        let waiting = self.bytes.len() - self.done;
        if waiting < self.bytes.capacity() / 4 {
            *self = Self { bytes: self.bytes[self.done..].to_vec(), done: 0 };
        } else if self.done > waiting {
            self.bytes.drain(..self.done);
            self.done = 0;
        }
    }

    /// Puts bytes before all waiting bytes.
    pub(crate) fn put_back(&mut self, bytes: &[u8]) {
        self.bytes.splice(..self.done, bytes.iter().copied());
        self.done = 0;
    }

    /// The bytes that wait.
    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        self.bytes.drain(..self.done);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_order_and_are_seldom_moved() {
        let sent: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
        let (mut inbox, mut seen) = (Inbox::default(), Vec::new());
        inbox.push(&sent);
        let mut moved = 0;
        while !inbox.is_empty() {
            let count = inbox.len().min(7);
            seen.extend_from_slice(&inbox.waiting()[..count]);
            let before = inbox.done;
            inbox.advance(count);
            moved += if inbox.done < before { inbox.len() } else { 0 };
            assert!(
                inbox.bytes.capacity() <= sent.len().min(4 * inbox.len().max(1)) + 64 || inbox.len() > 25_000
            );
        }
        assert_eq!(seen, sent);
        assert!(moved <= 2 * sent.len(), "{moved} bytes moved");
        assert_eq!(inbox.bytes.capacity(), 0);
        inbox.push(b"cde");
        inbox.advance(1);
        inbox.put_back(b"ab");
        assert_eq!(inbox.into_vec(), b"abde");
    }
}
