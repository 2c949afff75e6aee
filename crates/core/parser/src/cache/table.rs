//! The slots of a shard: read without a lock, written under the shard's lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwapOption;

use super::entry::{Cached, Entry};
use super::key::{Hash, Key};

/// Slots of a bucket: with their tags they fill a cache line.
const WAYS: usize = 7;
/// Slots per 100 entries. Of two buckets the emptier is taken, so that at three quarters full hardly a pair is full.
const SLOTS_PERCENT: usize = 133;

/// ```text
///  byte  0      6  7    8         16              63
///       | tags 0-6 | - | slot 0  | slot 1 ... slot 6 |     tag 0: the slot is empty
/// ```
/// A tag may be older than its slot for a moment: a reader then misses, or compares an entry that is not its own.
#[repr(align(64))]
struct Bucket<V> {
    tags: AtomicU64,
    slots: [ArcSwapOption<Entry<V>>; WAYS],
}

pub(super) struct Table<V> {
    buckets: Box<[Bucket<V>]>,
}

/// Lowest and highest bit of each tag.
const ONES: u64 = 0x0001_0101_0101_0101;
const TOPS: u64 = ONES << 7;

impl<V> Bucket<V> {
    fn new() -> Self {
        Self { tags: AtomicU64::new(0), slots: [const { ArcSwapOption::const_empty() }; WAYS] }
    }

    /// Ways whose tag is `tag`, lowest first. The first is right; a later one may be wrong; none is left out.
    #[inline]
    fn tagged(&self, tag: u8) -> impl Iterator<Item = usize> + use<V> {
        let difference = self.tags.load(Ordering::Acquire) ^ (ONES * u64::from(tag));
        let mut zeroes = difference.wrapping_sub(ONES) & !difference & TOPS;
        std::iter::from_fn(move || {
            let way = (zeroes != 0).then_some(zeroes.trailing_zeros() as usize / 8);
            zeroes &= zeroes.wrapping_sub(1);
            way
        })
    }

    /// The way whose entry was used least; for a full bucket.
    fn least_used(&self) -> Option<usize> {
        let uses = |slot: &ArcSwapOption<Entry<V>>| slot.load().as_ref().map(|entry| entry.uses());
        self.slots.iter().enumerate().min_by_key(|(_, slot)| uses(slot)).map(|(way, _)| way)
    }

    fn empty_ways(&self) -> usize {
        self.tags.load(Ordering::Relaxed).to_le_bytes().iter().take(WAYS).filter(|&&tag| tag == 0).count()
    }

    /// Under the lock: the tag is written after an entry that comes and before one that goes, so that a reader finds
    /// entries only.
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
    /// Room for this many entries.
    pub(super) fn new(entries_max: usize) -> Self {
        let buckets = (entries_max.saturating_mul(SLOTS_PERCENT) / 100).div_ceil(WAYS).max(1);
        Self { buckets: (0..buckets).map(|_| Bucket::new()).collect() }
    }

    /// Bytes of all slots.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// The entry of this key, counted as used.
    #[inline]
    pub(super) fn get(&self, hash: Hash, key: Key<'_>) -> Option<Cached<V>> {
        let [a, b] = hash.buckets(self.buckets.len());
        self.get_in(a, hash, key).or_else(|| self.get_in(b, hash, key))
    }

    #[inline]
    fn get_in(&self, bucket: usize, hash: Hash, key: Key<'_>) -> Option<Cached<V>> {
        let bucket = self.buckets.get(bucket)?;
        bucket.tagged(hash.tag()).find_map(|way| Cached::of_slot(bucket.slots.get(way)?.load(), hash, key))
    }

    /// Under the lock: puts a new entry into the emptier of its buckets. Where both are full, the least used of one
    /// makes way, and is returned.
    pub(super) fn insert(&self, entry: Arc<Entry<V>>) -> Option<Arc<Entry<V>>> {
        let pair = entry.hash().buckets(self.buckets.len()).map(|bucket| self.buckets.get(bucket));
        let bucket = pair.into_iter().flatten().max_by_key(|bucket| bucket.empty_ways())?;
        // Nobody else writes tags now: the first that is 0 is an empty slot's.
        let way = bucket.tagged(0).next().or_else(|| bucket.least_used())?;
        let displaced = bucket.slots.get(way)?.load_full();
        bucket.write(way, Some(entry));
        displaced
    }

    /// Under the lock: takes this very entry out.
    pub(super) fn remove(&self, entry: &Arc<Entry<V>>) {
        let pair = entry.hash().buckets(self.buckets.len());
        for bucket in pair.into_iter().filter_map(|bucket| self.buckets.get(bucket)) {
            let holds = |&way: &usize| {
                let slot = bucket.slots.get(way).map(ArcSwapOption::load);
                slot.as_deref().and_then(Option::as_ref).is_some_and(|found| Arc::ptr_eq(found, entry))
            };
            if let Some(way) = bucket.tagged(entry.hash().tag()).find(holds) {
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
        // All have the same tag, so that each look-up compares all those before it.
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
