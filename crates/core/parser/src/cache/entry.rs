//! An entry of the cache, its size in bytes, and the value that a hit returns.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use arc_swap::Guard;

use super::key::{Hash, Key, Space};

/// The highest use count: S3-FIFO has two bits for it.
const USES_MAX: u8 = 3;

/// The memory of a value. The cache asks once, when it inserts the value, so a value must not grow later.
pub trait Weigh: Send + Sync {
    /// The bytes that the value owns on the heap (including a C arena), without its own `size_of`.
    fn heap_bytes(&self) -> usize;
}

/// A key with its value, as the table holds it.
pub(super) struct Entry<V> {
    hash: Hash,
    space: Space,
    /// The hits since an eviction last passed over this entry, at most [`USES_MAX`].
    uses: AtomicU8,
    /// Whether the entry is no longer in the table, although it is still in a queue.
    displaced: AtomicBool,
    key: Box<[u8]>,
    bytes: usize,
    value: V,
}

impl<V: Weigh> Entry<V> {
    pub(super) fn new(hash: Hash, key: Key<'_>, value: V) -> Arc<Self> {
        // An Arc allocates two counters before its value.
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
    pub(super) fn has_key(&self, hash: Hash, key: Key<'_>) -> bool {
        self.hash == hash && self.space == key.space() && *self.key == *key.bytes()
    }

    pub(super) fn key(&self) -> Key<'_> {
        Key::new(self.space, &self.key)
    }

    pub(super) fn hash(&self) -> Hash {
        self.hash
    }

    /// The bytes of the entry that count towards `bytes_max`.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts a hit. The counter is only written while it is below its maximum, so the cache line of a hot entry is
    /// only read. Two threads may count only one hit together; this does no harm.
    #[inline]
    pub(super) fn count_use(&self) {
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

    /// Whether another entry has taken this entry's slot. Read and written only under the shard's lock.
    pub(super) fn is_displaced(&self) -> bool {
        self.displaced.load(Ordering::Relaxed)
    }

    pub(super) fn displace(&self) {
        self.displaced.store(true, Ordering::Relaxed);
    }
}

/// The memory that an allocator needs for `bytes`: with a header, rounded up to 16 (glibc's malloc; others are
/// similar).
fn allocated(bytes: usize) -> usize {
    if bytes == 0 {
        0
    } else {
        bytes.saturating_add(8).checked_next_multiple_of(16).unwrap_or(usize::MAX).max(32)
    }
}

/// A reference to a value in the cache. The value lives as long as this reference, even if it is evicted.
///
/// Hold it only briefly: the first eight that a thread holds at a time need no reference count that other cores share.
/// Call [`Cached::detach`] to keep one for long.
pub struct Cached<V> {
    /// Always `Some`: see the only two constructors.
    guard: Guard<Option<Arc<Entry<V>>>>,
}

impl<V> Cached<V> {
    /// From an entry that is in no slot, or whose reference count the caller has increased.
    pub(super) fn from_entry(entry: Arc<Entry<V>>) -> Self {
        Self { guard: Guard::from_inner(Some(entry)) }
    }

    /// From the content of a slot, if it is the entry of this key.
    #[inline]
    pub(super) fn from_slot(guard: Guard<Option<Arc<Entry<V>>>>, hash: Hash, key: Key<'_>) -> Option<Self> {
        let entry = guard.as_deref()?;
        if !entry.has_key(hash, key) {
            return None;
        }
        entry.count_use();
        Some(Self { guard })
    }

    /// The same value with its own reference count, so that it can be kept for long.
    #[must_use]
    pub fn detach(self) -> Self {
        Self { guard: Guard::from_inner(Guard::into_inner(self.guard)) }
    }

    /// The key of the entry.
    pub fn key(&self) -> Key<'_> {
        self.entry().key()
    }

    #[inline]
    fn entry(&self) -> &Entry<V> {
        match self.guard.as_deref() {
            Some(entry) => entry,
            None => unreachable!("both constructors put an entry in, and nobody takes it out"),
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
    /// `Debug` shows only the value, because the key is a client's statement.
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
        (0..9).for_each(|_| entry.count_use());
        assert_eq!(entry.uses(), 3);
    }

    #[test]
    fn a_copy_outlives_its_origin() {
        let cached = Cached::from_entry(entry("select"));
        let copy = cached.clone().detach();
        drop(cached);
        assert_eq!((*copy, copy.key().bytes()), (7, b"select".as_slice()));
        assert_eq!(format!("{copy:?}"), "7", "no statement in Debug");
    }
}
