//! The slots of a shard. They are read without a lock, and written under the shard's lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwapOption;

use super::entry::{Cached, Entry};
use super::key::{Hash, Key};

/// The number of slots of a bucket. With their tags they fill a cache line.
const WAYS: usize = 7;
/// The number of slots for 100 entries. An insert takes the emptier one of two buckets, so hardly any pair of buckets
/// is full when three quarters of the slots are used.
const SLOTS_PERCENT: usize = 133;

/// ```text
///  byte  0      6  7    8         16              63
///       | tags 0-6 | - | slot 0  | slot 1 ... slot 6 |     tag 0: the slot is empty
/// ```
/// For a moment a tag may be older than its slot. A reader then misses its entry, or compares the key of another entry.
#[repr(align(64))]
struct Bucket<V> {
    tags: AtomicU64,
    slots: [ArcSwapOption<Entry<V>>; WAYS],
}

pub(super) struct Table<V> {
    buckets: Box<[Bucket<V>]>,
}

/// The lowest and the highest bit of each tag.
const LOWEST_BITS: u64 = 0x0001_0101_0101_0101;
const HIGHEST_BITS: u64 = LOWEST_BITS << 7;

impl<V> Bucket<V> {
    fn new() -> Self {
        Self { tags: AtomicU64::new(0), slots: [const { ArcSwapOption::const_empty() }; WAYS] }
    }

    /// The slots with this tag, in ascending order. All of them are in the result and the first is correct, but a
    /// later one may have another tag.
    #[inline]
    fn slots_with_tag(&self, tag: u8) -> impl Iterator<Item = usize> + use<V> {
        let difference = self.tags.load(Ordering::Acquire) ^ (LOWEST_BITS * u64::from(tag));
        let mut zeroes = difference.wrapping_sub(LOWEST_BITS) & !difference & HIGHEST_BITS;
        std::iter::from_fn(move || {
            let way = (zeroes != 0).then_some(zeroes.trailing_zeros() as usize / 8);
            zeroes &= zeroes.wrapping_sub(1);
            way
        })
    }

    /// The slot whose entry was used least, in a full bucket.
    fn least_used(&self) -> Option<usize> {
        let uses = |slot: &ArcSwapOption<Entry<V>>| slot.load().as_ref().map(|entry| entry.uses());
        self.slots.iter().enumerate().min_by_key(|(_, slot)| uses(slot)).map(|(way, _)| way)
    }

    fn empty_ways(&self) -> usize {
        self.tags.load(Ordering::Relaxed).to_le_bytes().iter().take(WAYS).filter(|&&tag| tag == 0).count()
    }

    /// Writes a slot, under the lock. For a new entry the slot is written before the tag, for a removed entry after
    /// it, so that a reader who finds a tag also finds an entry.
    fn write(&self, way: usize, entry: Option<Arc<Entry<V>>>) {
        let Some(slot) = self.slots.get(way) else { return };
        let mut tags = self.tags.load(Ordering::Relaxed).to_le_bytes();
        let Some(tag) = tags.get_mut(way) else { return };
        match entry {
            Some(entry) => {
                *tag = entry.hash().tag();
                slot.store(Some(entry));
                self.tags.store(u64::from_le_bytes(tags), Ordering::Release);
            }
            None => {
                *tag = 0;
                self.tags.store(u64::from_le_bytes(tags), Ordering::Release);
                slot.store(None);
            }
        }
    }
}

impl<V> Table<V> {
    /// A table with room for this many entries.
    pub(super) fn new(entries_max: usize) -> Self {
        let buckets = (entries_max.saturating_mul(SLOTS_PERCENT) / 100).div_ceil(WAYS).max(1);
        Self { buckets: (0..buckets).map(|_| Bucket::new()).collect() }
    }

    /// The bytes of all slots.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// The entry of this key. Counts a use.
    #[inline]
    pub(super) fn get(&self, hash: Hash, key: Key<'_>) -> Option<Cached<V>> {
        let [a, b] = hash.buckets(self.buckets.len());
        self.get_in(a, hash, key).or_else(|| self.get_in(b, hash, key))
    }

    #[inline]
    fn get_in(&self, bucket: usize, hash: Hash, key: Key<'_>) -> Option<Cached<V>> {
        let bucket = self.buckets.get(bucket)?;
        bucket
            .slots_with_tag(hash.tag())
            .find_map(|way| Cached::from_slot(bucket.slots.get(way)?.load(), hash, key))
    }

    /// Puts a new entry into the emptier of its two buckets, under the lock. If both are full, the least used entry
    /// of one of them is displaced and returned.
    pub(super) fn insert(&self, entry: Arc<Entry<V>>) -> Option<Arc<Entry<V>>> {
        let pair = entry.hash().buckets(self.buckets.len()).map(|bucket| self.buckets.get(bucket));
        let bucket = pair.into_iter().flatten().max_by_key(|bucket| bucket.empty_ways())?;
        // Nobody else writes tags now, so the first tag that is 0 belongs to an empty slot.
        let way = bucket.slots_with_tag(0).next().or_else(|| bucket.least_used())?;
        let displaced = bucket.slots.get(way)?.load_full();
        bucket.write(way, Some(entry));
        displaced
    }

    /// Removes exactly this entry, under the lock.
    pub(super) fn remove(&self, entry: &Arc<Entry<V>>) {
        let pair = entry.hash().buckets(self.buckets.len());
        for bucket in pair.into_iter().filter_map(|bucket| self.buckets.get(bucket)) {
            let holds = |&way: &usize| {
                let slot = bucket.slots.get(way).map(ArcSwapOption::load);
                slot.as_deref().and_then(Option::as_ref).is_some_and(|found| Arc::ptr_eq(found, entry))
            };
            if let Some(way) = bucket.slots_with_tag(entry.hash().tag()).find(holds) {
                return bucket.write(way, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hash: u64) -> (Key<'static>, Arc<Entry<u64>>) {
        let key = Key::text("x");
        (key, Entry::new(Hash(hash), key, hash))
    }

    #[test]
    fn a_bucket_is_a_cache_line() {
        assert_eq!(size_of::<Bucket<u64>>(), 64);
    }

    #[test]
    fn every_slot_is_found_and_freed() {
        let table = Table::new(1);
        // All entries have the same tag, so each look-up compares the keys of all slots before its own.
        let entries: Vec<_> = (0..WAYS as u64).map(|n| entry(n << 32 | 9)).collect();
        for (_, entry) in &entries {
            assert!(table.insert(Arc::clone(entry)).is_none());
        }
        for (key, entry) in &entries {
            assert_eq!(table.get(entry.hash(), *key).map(|cached| *cached), Some(entry.hash().0));
        }
        for (key, entry) in &entries {
            table.remove(entry);
            assert!(table.get(entry.hash(), *key).is_none());
            assert_eq!(Arc::strong_count(entry), 1);
        }
    }

    #[test]
    fn a_full_pair_gives_up_its_least_used() {
        let table = Table::new(1);
        let entries: Vec<_> = (1..=WAYS as u64).map(|n| entry(n << 8 | n)).collect();
        for (_, entry) in &entries {
            assert!(table.insert(Arc::clone(entry)).is_none());
        }
        for (key, entry) in entries.iter().filter(|(_, entry)| entry.hash().tag() != 4) {
            assert!(table.get(entry.hash(), *key).is_some());
        }
        let (key, new) = entry(99 << 8 | 99);
        let displaced = table.insert(Arc::clone(&new)).expect("there was no room");
        assert_eq!(displaced.hash().tag(), 4);
        assert!(table.get(displaced.hash(), key).is_none() && table.get(new.hash(), key).is_some());
    }
}
