//! What a statement is found by, and its keyed hash.

use std::fmt;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};

/// Which of the two kinds of key: equal bytes of different kinds are different keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// The statement's text.
    Text,
    /// What `scan_key` wrote of it: its text with the literals taken out.
    Scanned,
}

/// The bytes that a statement is found by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    space: Space,
    bytes: &'a [u8],
}

impl<'a> Key<'a> {
    /// A statement by its text, byte by byte.
    #[inline]
    pub fn text<T: AsRef<[u8]> + ?Sized>(text: &'a T) -> Self {
        Self { space: Space::Text, bytes: text.as_ref() }
    }

    /// A statement by what `scan_key` wrote of it.
    #[inline]
    pub fn scanned<T: AsRef<[u8]> + ?Sized>(key: &'a T) -> Self {
        Self { space: Space::Scanned, bytes: key.as_ref() }
    }

    pub(super) fn new(space: Space, bytes: &'a [u8]) -> Self {
        Self { space, bytes }
    }

    /// Its kind.
    #[inline]
    pub fn space(self) -> Space {
        self.space
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Debug for Key<'_> {
    /// Without the bytes: they are a client's statement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("space", &self.space).field("len", &self.bytes.len()).finish()
    }
}

/// A cache's hash function: keyed by the seed that its owner gave.
pub(super) struct Hasher(RapidSecrets);

impl Hasher {
    pub(super) fn new(seed: u64) -> Self {
        Self(RapidSecrets::seed(seed))
    }

    #[inline]
    pub(super) fn hash(&self, key: Key<'_>) -> Hash {
        // An odd constant apart (2^64 by the golden ratio), so that a text and an equal key lie in different buckets.
        let apart = match key.space {
            Space::Text => 0,
            Space::Scanned => 0x9e37_79b9_7f4a_7c15,
        };
        // `PROTECTED` is for known secrets. Ours are not, and a collision costs two statements a cache line, no more.
        Hash(rapidhash_v3_micro_inline::<true, false>(key.bytes, &self.0) ^ apart)
    }
}

/// 64 bits of a key, each part for its own use:
/// ```text
///  63        32 31              8 7     0
///  | bucket a   | bucket b        | tag |      both buckets are chosen by the high bits of their half;
///          35-32 shard                         the ghost's mark is bits 31-0
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash(pub(super) u64);

impl Hash {
    /// Which of `count` shards, a power of two up to 16.
    #[inline]
    pub(super) fn shard(self, count: usize) -> usize {
        (self.0 >> 32) as usize & count.wrapping_sub(1)
    }

    /// Which two of `count` buckets, within 32 bits; they may be the same.
    #[inline]
    pub(super) fn buckets(self, count: usize) -> [usize; 2] {
        let scaled = |half: u64| ((half * count as u64) >> 32) as usize;
        [scaled(self.0 >> 32), scaled(self.0 & 0xffff_ffff)]
    }

    /// What stands for it in a bucket: never 0, which is an empty slot.
    #[inline]
    pub(super) fn tag(self) -> u8 {
        (self.0 as u8).max(1)
    }

    /// What stands for it among ghosts: never 0, which is none.
    pub(super) fn mark(self) -> u32 {
        (self.0 as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_space_change_every_part() {
        let of = |seed, key: Key<'_>| Hasher::new(seed).hash(key);
        let one = of(1, Key::text("select 1"));
        assert_eq!(one, of(1, Key::text(b"select 1".as_slice())));
        for other in [of(2, Key::text("select 1")), of(1, Key::scanned("select 1"))] {
            assert_ne!(one.buckets(1 << 20)[0], other.buckets(1 << 20)[0]);
            assert_ne!(one.buckets(1 << 20)[1], other.buckets(1 << 20)[1]);
        }
    }

    #[test]
    fn parts_stay_within_their_bounds() {
        for hash in [Hash(0), Hash(u64::MAX), Hash(0x8000_0000_0000_0100)] {
            assert!(hash.tag() != 0 && hash.mark() != 0);
            for count in [1, 3, 1 << 26] {
                assert!(hash.buckets(count).iter().all(|&bucket| bucket < count));
            }
            for count in [1, 2, 16] {
                assert!(hash.shard(count) < count);
            }
        }
    }
}
