//! Writes the bytes of a key. It writes in chunks, so more bytes are written than used.

use crate::lexer::wide::CHUNK;

/// A buffer that never shrinks. The key is its first `used` bytes.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    used: usize,
}

/// The buffer grows by at least this much.
const GROWTH_BYTES: usize = 512;

/// A tag and the bytes after it.
const TAGGED: usize = 1 + CHUNK;

impl Writer {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), used: 0 }
    }

    /// Clears the key, and frees a buffer of more than `kept_max` bytes.
    pub(super) fn clear(&mut self, kept_max: usize) {
        if self.bytes.len() > kept_max {
            self.bytes = Vec::new();
        }
        self.used = 0;
    }

    /// The key.
    pub(super) fn key(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Removes the bytes from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.used = self.used.min(len);
    }

    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        if self.used >= self.bytes.len() {
            self.grow(1);
        }
        if let Some(place) = self.bytes.get_mut(self.used) {
            *place = byte;
            self.used += 1;
        }
    }

    /// Writes `tag` and the first `count` of sixteen bytes.
    #[inline]
    pub(super) fn push_tagged(&mut self, tag: u8, chunk: &[u8; CHUNK], count: usize) {
        let Some(places) = self.bytes.get_mut(self.used..).and_then(|rest| rest.first_chunk_mut::<TAGGED>())
        else {
            return self.push_tagged_at_end(tag, chunk, count);
        };
        places[0] = tag;
        places[1..].copy_from_slice(chunk);
        self.used += 1 + count;
    }

    #[cold]
    #[inline(never)]
    fn push_tagged_at_end(&mut self, tag: u8, chunk: &[u8; CHUNK], count: usize) {
        self.grow(TAGGED);
        self.push(tag);
        self.push_chunk(chunk, count);
    }

    /// Writes the first `count` of sixteen bytes.
    #[inline]
    pub(super) fn push_chunk(&mut self, chunk: &[u8; CHUNK], count: usize) {
        if self.bytes.len() < self.used + CHUNK {
            self.grow(CHUNK);
        }
        if let Some(place) = self.bytes.get_mut(self.used..self.used + CHUNK) {
            place.copy_from_slice(chunk);
            self.used += count;
        }
    }

    pub(super) fn extend(&mut self, more: &[u8]) {
        if self.bytes.len() - self.used < more.len() {
            self.grow(more.len());
        }
        if let Some(place) = self.bytes.get_mut(self.used..self.used + more.len()) {
            place.copy_from_slice(more);
            self.used += more.len();
        }
    }

    /// Writes a number in decimal.
    pub(super) fn push_number(&mut self, number: u32) {
        let start = self.used;
        let mut rest = number;
        loop {
            self.push(b'0' + (rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if let Some(digits) = self.bytes.get_mut(start..self.used) {
            digits.reverse();
        }
    }

    /// Makes room for at least `more` further bytes.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let wanted = (self.used + more + GROWTH_BYTES).max(2 * self.bytes.len());
        self.bytes.resize(wanted, 0);
    }
}
