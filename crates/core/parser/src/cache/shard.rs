//! A part of the cache with a lock of its own for those who insert.

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
        if !books.fits(&entry) {
            books.refusals += 1;
            drop(books);
            return Cached::of(entry);
        }
        let bytes_max = books.bounds.bytes_max.saturating_sub(entry.bytes());
        self.evict(&mut books, bytes_max, self.entries_max.saturating_sub(1), &mut fallen);
        books.inserts += 1;
        let known = books.ghosts.take(entry.hash());
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

    /// Evicts until there are at most so many bytes and entries.
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
