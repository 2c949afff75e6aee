//! One direction of a connection: a bounded buffer between two ends.

use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Pipe {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// The writing end is closed. The bytes in the pipe can still be read.
    pub(crate) closed: bool,
}

impl Pipe {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { bytes: VecDeque::new(), capacity, closed: false }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.bytes.len())
    }

    /// Takes as much as there is room for.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room());
        self.bytes.extend(&bytes[..count]);
        count
    }

    /// Takes out at most `most` bytes.
    pub(crate) fn pull(&mut self, most: usize) -> Vec<u8> {
        self.bytes.drain(..most.min(self.bytes.len())).collect()
    }

    /// All bytes in the pipe.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}
