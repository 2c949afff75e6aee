//! A shard: a part of the cache with its own lock for inserts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::{Cached, Entry};
use super::ghost::Ghosts;
use super::key::{Hash, Key};
use super::queues::Queues;
use super::settings::Bounds;
use super::stats::Stats;
use super::table::Table;

/// A shard. It is aligned so that the lock of one shard and the data that readers of the next shard read are on
/// different cache lines.
#[repr(align(128))]
pub(super) struct Shard<V> {
    table: Table<V>,
    entries_max: usize,
    state: OwnLines<Mutex<LockedState<V>>>,
}

/// Puts a value on its own cache lines.
#[repr(align(128))]
struct OwnLines<T>(T);

/// The state that is only read and written under the lock.
struct LockedState<V> {
    queues: Queues<V>,
    ghosts: Ghosts,
    bounds: Bounds,
    /// The bytes of table, ghosts, queues and counters, which exist before the first entry.
    fixed_bytes: usize,
    inserts: u64,
    evictions: u64,
    refusals: u64,
}

/// Evicted entries, which are dropped after the lock is released, because it takes time to drop a tree.
type Evicted<V> = Vec<Arc<Entry<V>>>;

impl<V> Shard<V> {
    /// An empty shard. It holds nothing until [`Shard::set_bounds`] is called. `shared_bytes` is its part of the
    /// memory that belongs to no shard.
    pub(super) fn new(entries_max: usize, shared_bytes: usize) -> Self {
        let table = Table::new(entries_max);
        let ghosts = Ghosts::new(entries_max);
        let queues = Queues::new(entries_max);
        let own_bytes = size_of::<Self>() + table.bytes() + ghosts.bytes() + queues.own_bytes();
        let bounds = Bounds { bytes_max: 0, entry_bytes_max: 0 };
        let state = LockedState {
            queues,
            ghosts,
            bounds,
            fixed_bytes: own_bytes + shared_bytes,
            inserts: 0,
            evictions: 0,
            refusals: 0,
        };
        Self { table, entries_max, state: OwnLines(Mutex::new(state)) }
    }

    #[inline]
    pub(super) fn get(&self, hash: Hash, key: Key<'_>) -> Option<Cached<V>> {
        self.table.get(hash, key)
    }

    /// Inserts the entry and returns it. If there is already an entry with its key, returns that one.
    pub(super) fn insert(&self, entry: Arc<Entry<V>>) -> Cached<V> {
        let mut evicted = Evicted::new();
        let mut state = self.lock();
        if let Some(found) = self.table.get(entry.hash(), entry.key()) {
            drop(state);
            return found;
        }
        if self.entries_max == 0 || !state.fits(&entry) {
            state.refusals += 1;
            drop(state);
            return Cached::from_entry(entry);
        }
        // This comes before the eviction: an entry that is evicted now may replace this entry's ghost.
        let is_known = state.ghosts.take(entry.hash());
        let bytes_max = state.bounds.bytes_max.saturating_sub(entry.bytes());
        self.evict(&mut state, bytes_max, self.entries_max.saturating_sub(1), &mut evicted);
        state.inserts += 1;
        if let Some(displaced) = self.table.insert(Arc::clone(&entry)) {
            // Queues are not searched, so the displaced entry counts and stays alive until it comes to the queue's
            // front.
            displaced.displace();
        }
        state.queues.push(Arc::clone(&entry), is_known);
        drop(state);
        drop(evicted);
        Cached::from_entry(entry)
    }

    /// Changes the bounds, and evicts the entries above them.
    pub(super) fn set_bounds(&self, bounds: Bounds) {
        let mut evicted = Evicted::new();
        let mut state = self.lock();
        state.bounds = bounds;
        self.evict(&mut state, bounds.bytes_max, self.entries_max, &mut evicted);
        drop(state);
        drop(evicted);
    }

    /// Removes everything except the counters.
    pub(super) fn clear(&self) {
        let mut state = self.lock();
        let evicted = state.queues.drain();
        evicted.iter().for_each(|entry| self.table.remove(entry));
        state.ghosts.clear();
        drop(state);
        drop(evicted);
    }

    /// Adds the shard's counters and sizes to `stats`.
    pub(super) fn add_to(&self, stats: &mut Stats) {
        let state = self.lock();
        stats.inserts += state.inserts;
        stats.evictions += state.evictions;
        stats.refusals += state.refusals;
        stats.entries += state.queues.len();
        stats.entries_max += self.entries_max;
        stats.bytes += state.bytes();
    }

    /// Evicts entries until there are at most this many bytes and entries.
    fn evict(
        &self,
        state: &mut LockedState<V>,
        bytes_max: usize,
        entries_max: usize,
        evicted: &mut Evicted<V>,
    ) {
        while state.bytes() > bytes_max || state.queues.len() > entries_max {
            let Some(victim) = state.queues.evict() else { return };
            state.evictions += 1;
            if victim.unused {
                state.ghosts.add(victim.entry.hash());
            }
            self.table.remove(&victim.entry);
            evicted.push(victim.entry);
        }
    }

    /// Locks the shard. If another thread panicked while it had the lock (out of memory), some entries may be only in
    /// a queue or only in the table, which does no harm.
    fn lock(&self) -> MutexGuard<'_, LockedState<V>> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> LockedState<V> {
    fn bytes(&self) -> usize {
        self.fixed_bytes + self.queues.bytes()
    }

    /// Whether there is room for the entry if all others are evicted.
    fn fits(&self, entry: &Entry<V>) -> bool {
        let bytes = entry.bytes();
        bytes <= self.bounds.entry_bytes_max
            && self.fixed_bytes.saturating_add(bytes) <= self.bounds.bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(entries_max: usize) -> Shard<u64> {
        let shard = Shard::new(entries_max, 0);
        shard.set_bounds(Bounds { bytes_max: 1 << 20, entry_bytes_max: 1 << 20 });
        shard
    }

    fn insert(shard: &Shard<u64>, hash: u64) {
        shard.insert(Entry::new(Hash(hash), Key::text("x"), hash));
    }

    fn stats(shard: &Shard<u64>) -> Stats {
        let mut stats = Stats::default();
        shard.add_to(&mut stats);
        stats
    }

    #[test]
    fn a_hit_takes_no_lock() {
        let shard = shard(8);
        insert(&shard, 5);
        // While this thread holds the lock, a thread that needs the lock would never return.
        let state = shard.lock();
        assert_eq!(shard.get(Hash(5), Key::text("x")).map(|cached| *cached), Some(5));
        assert!(shard.get(Hash(6), Key::text("x")).is_none());
        drop(state);
    }

    #[test]
    fn entries_are_bounded_too() {
        let shard = shard(8);
        (0..100).for_each(|n| insert(&shard, n << 35 | n << 3));
        let stats = stats(&shard);
        assert_eq!((stats.entries, stats.inserts, stats.evictions), (8, 100, 92));
    }

    #[test]
    fn room_for_none_keeps_none() {
        let shard = shard(0);
        insert(&shard, 5);
        let stats = stats(&shard);
        assert_eq!((stats.entries, stats.inserts, stats.refusals), (0, 0, 1));
    }

    /// All hashes lead to the same pair of buckets, as a tenant who knew the seed could arrange. The pair displaces
    /// entries, which count until they come to the front of their queue.
    #[test]
    fn one_bucket_does_not_grow() {
        let shard = shard(100);
        (0..200).for_each(|n| insert(&shard, n));
        let found = (0..200).filter(|&n| shard.get(Hash(n), Key::text("x")).is_some()).count();
        assert_eq!((found, stats(&shard).entries), (7, 100));
        shard.clear();
        assert_eq!(stats(&shard).entries, 0);
        assert!((0..200).all(|n| shard.get(Hash(n), Key::text("x")).is_none()));
    }

    #[test]
    fn an_entry_that_comes_back_goes_to_the_main_queue() {
        let shard = shard(4);
        let (hash, key) = (Hash(5 << 35 | 5), Key::text("x"));
        // Four more entries evict it. After it has come back, ten more do not.
        insert(&shard, hash.0);
        (10..14).for_each(|n| insert(&shard, n << 35 | n));
        assert!(shard.get(hash, key).is_none());
        insert(&shard, hash.0);
        (20..30).for_each(|n| insert(&shard, n << 35 | n));
        assert!(shard.get(hash, key).is_some());
    }
}
