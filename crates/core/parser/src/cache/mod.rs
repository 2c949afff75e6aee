//! A cache of facts about statements, which all workers share. It has a bound in bytes, and reads need no lock.
//!
//! A statement is found by the exact bytes of its key, in one of two separate key spaces: by its text, or by the key
//! that the scanner made from it (without literals). The owner chooses the type of the value: a tree, a class, a list
//! of tables.
//!
//! ```
//! use trunkline_parser::cache::{Cache, Key, Settings, Weigh};
//!
//! /// What the owner keeps of a statement.
//! struct Summary { read_only: bool, tables: Vec<u8> }
//! impl Weigh for Summary {
//!     fn heap_bytes(&self) -> usize { self.tables.capacity() }
//! }
//!
//! let seed = 0x5eed; // in production from the system's entropy
//! let cache = Cache::new(&Settings::with_bytes_max(1 << 20), seed);
//! let sql = "SELECT 1 FROM people";
//! assert!(cache.get(Key::text(sql)).is_none());
//! let kept = cache.insert(Key::text(sql), Summary { read_only: true, tables: b"people".to_vec() });
//! assert!(kept.read_only);
//! assert_eq!(cache.get(Key::text(sql)).expect("it fits").tables, b"people");
//! assert!(cache.get(Key::scanned(sql.as_bytes())).is_none(), "the other key space");
//! assert_eq!((cache.stats().text.hits, cache.stats().text.misses), (1, 1));
//! ```
//!
//! # How
//! ```text
//!  key -> hash -> shard -> bucket a, bucket b: a cache line each  [7 tags | 7 slots]
//!                                                                          |
//!         queues of the shard, under its lock: small, main, ghosts      Arc<Entry { key, value, uses }>
//! ```
//! - **A hit** hashes the key, compares seven tags at once in at most two cache lines, and borrows the entry of the slot
//!   with an equal tag. It takes no lock. It writes no cache line that other threads write too, except for the entry's
//!   `uses`, and that only while the count is below its maximum. So a hot statement is only read.
//! - **An insert** takes the lock of one shard for some hundred nanoseconds. Evicted entries are dropped after the lock is
//!   released. No thread waits for another thread's parse: if two threads miss the same statement, both parse it. The
//!   first insert wins, and the other thread gets the first one's value.
//! - **Eviction** follows S3-FIFO (Yang et al., SOSP 2023). New entries go into a small queue with a tenth of the bytes.
//!   An entry gets into the main queue only if it is hit while it is in the small queue, or if it comes back soon after
//!   its eviction (a ghost remembers its hash). So a flood of statements that are used once only replaces that tenth.
//! - **Memory**: the table, the ghosts and the queues are allocated once, for `entries_max` entries. They count towards
//!   `bytes_max`, as the entries do (key, value and bookkeeping, rounded as an allocator does). An evicted entry is freed
//!   when its last reader releases it, without an epoch to wait for.
//! - **Tenants cannot flood a bucket**, because the hash depends on the owner's seed. Even if somebody knew the seed, a
//!   look-up would touch only two cache lines: a bucket never grows, it evicts.
//!
//! # Compared
//! Other designs, and the time of a hit by one thread among 100 keys of 200 bytes, including the hash (2-core machine):
//!
//! | | ns | why not |
//! |---|---|---|
//! | `Mutex<HashMap>`, `Arc` cloned | 44 | one lock for all cores |
//! | `RwLock<HashMap>`, `Arc` cloned | 39 | a reader writes the lock's and the reference count's line, which all cores share |
//! | 16 of them (sharded) | 63 | hashes twice; all cores still share the lock of a hot statement |
//! | quick_cache 0.7 | 40 | the same as a crate: its readers lock a shard |
//! | papaya 0.2 | 29 | has no recency and no counters; frees in batches and chooses its table's size itself, so no bound in bytes is possible |
//! | crossbeam-epoch | | needs `unsafe` in this crate, and frees only when the epoch advances |
//! | only std | | has no safe way to read an `Arc` without a lock while another thread may replace it |
//! | **this**, arc-swap 1.9 in each slot | 48 | includes recency (1) and counters (6); frees at once |
//!
//! With two threads a hit takes 48 ns too, both if they share a cache and if each has its own. arc-swap's borrow and
//! release take 16 ns of that.
//!
//! Eviction policies: the hit ratio in % of 100 hot statements among statements that never come back, in a cache with
//! room for 5,000:
//!
//! | for each use of a hot one | FIFO | LRU | CLOCK | SIEVE | S3-FIFO |
//! |---|---|---|---|---|---|
//! | 20 others | 71 | 92 | 97 | 100 | 100 |
//! | 100 others | 34 | 40 | 45 | 100 | 100 |
//! | 20 others, each run twice | 71 | 92 | 80 | 90 | 99 |
//! | 20,000 hot ones by Zipf's law, 3 others | 53 | 58 | 60 | 76 | 79 |
//!
//! The times of hashes of 30, 85 and 200 bytes in nanoseconds: rapidhash 3, 6, 9; foldhash 3, 5, 10; ahash 3, 7, 16;
//! SipHash 15, 39, 56. We use rapidhash because all its secrets come from an argument. foldhash takes them from a
//! global.

mod entry;
mod ghost;
mod key;
mod queues;
mod settings;
mod shard;
mod stats;
mod table;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use entry::{Cached, Weigh};
pub use key::{Key, Space};
pub use settings::Settings;
pub use stats::{SpaceStats, Stats};

use entry::Entry;
use key::{Hash, Hasher};
use settings::Bounds;
use shard::Shard;
use stats::Lookups;

/// A cache from keys to values of type `V`. Share it as `Arc<Cache<V>>` or `&Cache<V>`.
pub struct Cache<V> {
    hasher: Hasher,
    shards: Box<[Shard<V>]>,
    lookups: Lookups,
    bytes_max: AtomicUsize,
}

impl<V: Weigh> Cache<V> {
    /// An empty cache. The hash depends on `seed`: take it from the system's entropy, so that no tenant can know it.
    pub fn new(settings: &Settings, seed: u64) -> Self {
        let count = settings.shards();
        let lookups = Lookups::new();
        let shared_bytes = lookups.bytes() / count;
        let shards = (0..count).map(|_| Shard::new(settings.shard_entries_max(), shared_bytes)).collect();
        let cache = Self { hasher: Hasher::new(seed), shards, lookups, bytes_max: AtomicUsize::new(0) };
        cache.set_bytes_max(settings.bytes_max);
        cache
    }

    /// The value for this key.
    #[inline]
    pub fn get(&self, key: Key<'_>) -> Option<Cached<V>> {
        let hash = self.hasher.hash(key);
        let found = self.shard(hash).and_then(|shard| shard.get(hash, key));
        self.lookups.count(key.space(), found.is_some());
        found
    }

    /// Inserts `value` for this key and returns it. If the cache already has a value for the key, that value stays
    /// and is returned. If `value` is too large for the cache, it is only returned.
    pub fn insert(&self, key: Key<'_>, value: V) -> Cached<V> {
        let hash = self.hasher.hash(key);
        match self.shard(hash) {
            Some(shard) => shard.insert(Entry::new(hash, key, value)),
            None => Cached::from_entry(Entry::new(hash, key, value)),
        }
    }

    /// The value for this key. If there is none, `make` makes one, which is inserted. No lock is held while `make`
    /// runs.
    pub fn get_or_insert_with(&self, key: Key<'_>, make: impl FnOnce() -> V) -> Cached<V> {
        self.get(key).unwrap_or_else(|| self.insert(key, make()))
    }

    /// As [`Cache::get_or_insert_with`], but `make` may fail. Then nothing is inserted.
    pub fn try_get_or_insert_with<E>(
        &self,
        key: Key<'_>,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Cached<V>, E> {
        match self.get(key) {
            Some(found) => Ok(found),
            None => Ok(self.insert(key, make()?)),
        }
    }

    /// Changes the bound in bytes, and at once evicts the entries above it. If the table alone is above the bound,
    /// the cache holds no entries; so 0 turns it off. `entries_max` and the size of the table do not change: for a
    /// much larger bound, make a new cache.
    pub fn set_bytes_max(&self, bytes_max: usize) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
        let bounds = Bounds::for_shard(bytes_max, self.shards.len());
        self.shards.iter().for_each(|shard| shard.set_bounds(bounds));
    }

    /// Removes all entries and ghosts. The counters stay. Values that somebody holds stay alive.
    pub fn clear(&self) {
        self.shards.iter().for_each(Shard::clear);
    }

    /// The current counters and sizes. Each is correct, but they may be from slightly different moments.
    pub fn stats(&self) -> Stats {
        let mut stats = self.lookups.stats();
        stats.bytes_max = self.bytes_max.load(Ordering::Relaxed);
        self.shards.iter().for_each(|shard| shard.add_to(&mut stats));
        stats
    }

    /// The shard of this hash. It always exists, because there is at least one shard.
    #[inline]
    fn shard(&self, hash: Hash) -> Option<&Shard<V>> {
        self.shards.get(hash.shard(self.shards.len()))
    }
}

impl<V: Weigh> fmt::Debug for Cache<V> {
    /// `Debug` shows only sizes and counters, because statements may hold private data of clients.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
