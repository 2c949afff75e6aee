//! The key of an entry, and its hash, which depends on a seed.

use std::fmt;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};

/// The kind of a key. Keys of different kinds differ even if their bytes are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// The statement's text.
    Text,
    /// What `scan_key` wrote for the statement: its text without literals.
    Scanned,
}

/// The key by which the cache finds a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    space: Space,
    bytes: &'a [u8],
}

impl<'a> Key<'a> {
    /// The key for the exact text of a statement.
    #[inline]
    pub fn text<T: AsRef<[u8]> + ?Sized>(text: &'a T) -> Self {
        Self { space: Space::Text, bytes: text.as_ref() }
    }

    /// The key that `scan_key` wrote for a statement.
    #[inline]
    pub fn scanned<T: AsRef<[u8]> + ?Sized>(key: &'a T) -> Self {
        Self { space: Space::Scanned, bytes: key.as_ref() }
    }

    pub(super) fn new(space: Space, bytes: &'a [u8]) -> Self {
        Self { space, bytes }
    }

    /// The key's kind.
    #[inline]
    pub fn space(self) -> Space {
        self.space
    }

    /// The key's bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Debug for Key<'_> {
    /// `Debug` does not show the bytes, because they are a client's statement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("space", &self.space).field("len", &self.bytes.len()).finish()
    }
}

/// The hash function of a cache. It depends on the seed that the cache's owner gave.
pub(super) struct Hasher(RapidSecrets);

impl Hasher {
    pub(super) fn new(seed: u64) -> Self {
        Self(RapidSecrets::seed(seed))
    }

    #[inline]
    pub(super) fn hash(&self, key: Key<'_>) -> Hash {
        // Scanned keys get another hash (the constant is 2^64 divided by the golden ratio), so that a text and a
        // scanned key of the same bytes are in different buckets.
        let space_bits = match key.space {
            Space::Text => 0,
            Space::Scanned => 0x9e37_79b9_7f4a_7c15,
        };
        // rapidhash's `PROTECTED` is for secrets that are known to others. Ours are not, and after a collision two
        // statements only share a cache line.
        Hash(rapidhash_v3_micro_inline::<true, false>(key.bytes, &self.0) ^ space_bits)
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
    /// The number of the shard. `count` is the number of shards, a power of two up to 16.
    #[inline]
    pub(super) fn shard(self, count: usize) -> usize {
        (self.0 >> 32) as usize & count.wrapping_sub(1)
    }

    /// The numbers of the two buckets, which may be the same. `count` is the number of buckets and fits into 32 bits.
    #[inline]
    pub(super) fn buckets(self, count: usize) -> [usize; 2] {
        let scaled = |half: u64| ((half * count as u64) >> 32) as usize;
        [scaled(self.0 >> 32), scaled(self.0 & 0xffff_ffff)]
    }

    /// The tag of the entry in its bucket. It is never 0, because 0 means an empty slot.
    #[inline]
    pub(super) fn tag(self) -> u8 {
        (self.0 as u8).max(1)
    }

    /// The mark of the entry among ghosts. It is never 0, because 0 means no ghost.
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
