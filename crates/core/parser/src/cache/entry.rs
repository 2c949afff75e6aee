//! One kept statement, how much it weighs, and what a hit hands out.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use arc_swap::Guard;

use super::key::{Hash, Key, Space};

/// Uses that count: S3-FIFO's two bits.
const USES_MAX: u8 = 3;

/// What a value takes, asked once, when it is inserted: a value must not grow later.
pub trait Weigh: Send + Sync {
    /// Bytes that it owns on the heap (a C arena included), beside its own `size_of`.
    fn heap_bytes(&self) -> usize;
}

/// A statement as the table keeps it.
pub(super) struct Entry<V> {
    hash: Hash,
    space: Space,
    /// Hits since it was last passed over, at most [`USES_MAX`].
    uses: AtomicU8,
    /// Out of the table, though still in a queue.
    displaced: AtomicBool,
    key: Box<[u8]>,
    bytes: usize,
    value: V,
}

impl<V: Weigh> Entry<V> {
    pub(super) fn new(hash: Hash, key: Key<'_>, value: V) -> Arc<Self> {
        // The two counters of an Arc stand before what it holds.
        let own = allocated(size_of::<Self>() + 2 * size_of::<usize>());
        let bytes = own.saturating_add(allocated(key.bytes().len())).saturating_add(value.heap_bytes());
        Arc::new(Self {
            hash,
            space: key.space(),
            uses: AtomicU8::new(0),
            displaced: AtomicBool::new(false),
            key: key.bytes().into(),
            bytes,
            value,
        })
    }
}

impl<V> Entry<V> {
    #[inline]
    pub(super) fn is(&self, hash: Hash, key: Key<'_>) -> bool {
        self.hash == hash && self.space == key.space() && *self.key == *key.bytes()
    }

    pub(super) fn key(&self) -> Key<'_> {
        Key::new(self.space, &self.key)
    }

    pub(super) fn hash(&self) -> Hash {
        self.hash
    }

    /// What it counts for in `bytes_max`.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts a hit. A hot entry's line is only read: it is written while the count is below its maximum.
    /// Two threads may count one hit between them, which does no harm.
    #[inline]
    pub(super) fn used(&self) {
        let uses = self.uses.load(Ordering::Relaxed);
        if uses < USES_MAX {
            self.uses.store(uses + 1, Ordering::Relaxed);
        }
    }

    pub(super) fn uses(&self) -> u8 {
        self.uses.load(Ordering::Relaxed)
    }

    pub(super) fn set_uses(&self, uses: u8) {
        self.uses.store(uses, Ordering::Relaxed);
    }

    /// Whether its slot was given to another. Read and written under the shard's lock only.
    pub(super) fn is_displaced(&self) -> bool {
        self.displaced.load(Ordering::Relaxed)
    }

    pub(super) fn displace(&self) {
        self.displaced.store(true, Ordering::Relaxed);
    }
}

/// What an allocator takes for `bytes`: a header, rounded up to 16 (glibc's malloc; others are near it).
fn allocated(bytes: usize) -> usize {
    if bytes == 0 {
        0
    } else {
        bytes.saturating_add(8).checked_next_multiple_of(16).unwrap_or(usize::MAX).max(32)
    }
}

/// A kept value, alive for as long as this is, evicted or not.
///
/// Made to be held briefly: a thread's first eight at a time cost no count that other cores share. Call
/// [`Cached::detach`] before keeping one for long.
pub struct Cached<V> {
    /// Always of an entry: see the only two makers.
    guard: Guard<Option<Arc<Entry<V>>>>,
}

impl<V> Cached<V> {
    /// Of an entry that is in no slot, or of which the caller owns a count.
    pub(super) fn of(entry: Arc<Entry<V>>) -> Self {
        Self { guard: Guard::from_inner(Some(entry)) }
    }

    /// Of what a slot held, if that is this key's entry.
    #[inline]
    pub(super) fn of_slot(guard: Guard<Option<Arc<Entry<V>>>>, hash: Hash, key: Key<'_>) -> Option<Self> {
        let entry = guard.as_deref()?;
        if !entry.is(hash, key) {
            return None;
        }
        entry.used();
        Some(Self { guard })
    }

    /// The same value, held by a count of its own: for keeping it.
    #[must_use]
    pub fn detach(self) -> Self {
        Self { guard: Guard::from_inner(Guard::into_inner(self.guard)) }
    }

    /// The key that it is kept by.
    pub fn key(&self) -> Key<'_> {
        self.entry().key()
    }

    #[inline]
    fn entry(&self) -> &Entry<V> {
        match self.guard.as_deref() {
            Some(entry) => entry,
            None => unreachable!("a Cached is made of an entry, and a guard does not change"),
        }
    }
}

impl<V> Deref for Cached<V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        &self.entry().value
    }
}

impl<V> Clone for Cached<V> {
    fn clone(&self) -> Self {
        Self { guard: Guard::from_inner(self.guard.clone()) }
    }
}

impl<V: fmt::Debug> fmt::Debug for Cached<V> {
    /// The value only: the key is a client's statement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry().value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::Hasher;

    impl Weigh for u64 {
        fn heap_bytes(&self) -> usize {
            0
        }
    }

    fn entry(text: &str) -> Arc<Entry<u64>> {
        let key = Key::text(text);
        Entry::new(Hasher::new(1).hash(key), key, 7)
    }

    #[test]
    fn sizes_are_rounded_as_an_allocator_does() {
        let sizes = [0, 1, 24, 25, 40, 41, usize::MAX].map(allocated);
        assert_eq!(sizes, [0, 32, 32, 48, 48, 64, usize::MAX]);
    }

    #[test]
    fn uses_count_to_three() {
        let entry = entry("select");
        (0..9).for_each(|_| entry.used());
        assert_eq!(entry.uses(), 3);
    }

    #[test]
    fn a_copy_outlives_its_origin() {
        let cached = Cached::of(entry("select"));
        let copy = cached.clone().detach();
        drop(cached);
        assert_eq!((*copy, copy.key().bytes()), (7, b"select".as_slice()));
        assert_eq!(format!("{copy:?}"), "7", "no statement in Debug");
    }
}
