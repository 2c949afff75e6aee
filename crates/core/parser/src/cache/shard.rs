//! A part of the cache with a lock of its own for inserts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::{Cached, Entry};
use super::ghost::Ghosts;
use super::key::{Hash, Key};
use super::queues::Queues;
use super::settings::Bounds;
use super::stats::Stats;
use super::table::Table;

/// Aligned so that the lock of one and what readers of the next read lie on different lines.
#[repr(align(128))]
pub(super) struct Shard<V> {
    table: Table<V>,
    entries_max: usize,
    books: Lines<Mutex<Books<V>>>,
}

/// Keeps what is inside off the lines before it.
#[repr(align(128))]
struct Lines<T>(T);

/// What is written under the lock.
struct Books<V> {
    queues: Queues<V>,
    ghosts: Ghosts,
    bounds: Bounds,
    /// Bytes of table, ghosts, queues, counters: they are there before the first entry.
    fixed_bytes: usize,
    inserts: u64,
    evictions: u64,
    refusals: u64,
}

/// What fell out, to be dropped when the lock is given back: dropping a tree takes its time.
type Fallen<V> = Vec<Arc<Entry<V>>>;

impl<V> Shard<V> {
    /// An empty one that keeps nothing until it is told its bounds. `shared_bytes` is its part of what belongs to none.
    pub(super) fn new(entries_max: usize, shared_bytes: usize) -> Self {
        let table = Table::new(entries_max);
        let ghosts = Ghosts::new(entries_max);
        let queues = Queues::new(entries_max);
        let own_bytes = size_of::<Self>() + table.bytes() + ghosts.bytes() + queues.own_bytes();
        let bounds = Bounds { bytes_max: 0, entry_bytes_max: 0 };
        let books = Books {
            queues,
            ghosts,
            bounds,
            fixed_bytes: own_bytes + shared_bytes,
            inserts: 0,
            evictions: 0,
            refusals: 0,
        };
        Self { table, entries_max, books: Lines(Mutex::new(books)) }
    }

    #[inline]
    pub(super) fn get(&self, hash: Hash, key: Key<'_>) -> Option<Cached<V>> {
        self.table.get(hash, key)
    }

    /// Keeps the entry, and returns it; or returns what is kept for its key already.
    pub(super) fn insert(&self, entry: Arc<Entry<V>>) -> Cached<V> {
        let mut fallen = Fallen::new();
        let mut books = self.books();
        if let Some(found) = self.table.get(entry.hash(), entry.key()) {
            drop(books);
            return found;
        }
        if self.entries_max == 0 || !books.fits(&entry) {
            books.refusals += 1;
            drop(books);
            return Cached::of(entry);
        }
        // Asked first: an entry that falls out now may take its place among the ghosts.
        let known = books.ghosts.take(entry.hash());
        let bytes_max = books.bounds.bytes_max.saturating_sub(entry.bytes());
        self.evict(&mut books, bytes_max, self.entries_max.saturating_sub(1), &mut fallen);
        books.inserts += 1;
        if let Some(displaced) = self.table.insert(Arc::clone(&entry)) {
            // It counts, and stays alive, until its turn in the queue comes: queues are not searched.
            displaced.displace();
        }
        books.queues.push(Arc::clone(&entry), known);
        drop(books);
        drop(fallen);
        Cached::of(entry)
    }

    /// New bounds: what is beyond them goes.
    pub(super) fn set_bounds(&self, bounds: Bounds) {
        let mut fallen = Fallen::new();
        let mut books = self.books();
        books.bounds = bounds;
        self.evict(&mut books, bounds.bytes_max, self.entries_max, &mut fallen);
        drop(books);
        drop(fallen);
    }

    /// Forgets everything but the counters.
    pub(super) fn clear(&self) {
        let mut books = self.books();
        let fallen = books.queues.drain();
        fallen.iter().for_each(|entry| self.table.remove(entry));
        books.ghosts.clear();
        drop(books);
        drop(fallen);
    }

    /// Adds its counters and sizes.
    pub(super) fn add_to(&self, stats: &mut Stats) {
        let books = self.books();
        stats.inserts += books.inserts;
        stats.evictions += books.evictions;
        stats.refusals += books.refusals;
        stats.entries += books.queues.len();
        stats.entries_max += self.entries_max;
        stats.bytes += books.bytes();
    }

    /// Evicts until there are at most this many bytes and entries.
    fn evict(&self, books: &mut Books<V>, bytes_max: usize, entries_max: usize, fallen: &mut Fallen<V>) {
        while books.bytes() > bytes_max || books.queues.len() > entries_max {
            let Some(victim) = books.queues.evict() else { return };
            books.evictions += 1;
            if victim.unused {
                books.ghosts.add(victim.entry.hash());
            }
            self.table.remove(&victim.entry);
            fallen.push(victim.entry);
        }
    }

    /// A panic of another thread (out of memory) leaves entries that are in a queue or a table only: harmless.
    fn books(&self) -> MutexGuard<'_, Books<V>> {
        self.books.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Books<V> {
    fn bytes(&self) -> usize {
        self.fixed_bytes + self.queues.bytes()
    }

    /// Whether the entry could be kept if all others went.
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
        // With the lock held, a thread that wants it would never return.
        let books = shard.books();
        assert_eq!(shard.get(Hash(5), Key::text("x")).map(|cached| *cached), Some(5));
        assert!(shard.get(Hash(6), Key::text("x")).is_none());
        drop(books);
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

    /// All hashes lead to one pair of buckets, as those of a tenant who knew the seed would: the pair forgets, and
    /// what it forgot is counted until its turn comes.
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
        // Four more push it out; then it comes back, and ten more do not.
        insert(&shard, hash.0);
        (10..14).for_each(|n| insert(&shard, n << 35 | n));
        assert!(shard.get(hash, key).is_none());
        insert(&shard, hash.0);
        (20..30).for_each(|n| insert(&shard, n << 35 | n));
        assert!(shard.get(hash, key).is_some());
    }
}
