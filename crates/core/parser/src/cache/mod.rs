//! A cache of what is known of a statement, shared by every worker: bounded by bytes, read without a lock.
//!
//! A statement is found by its exact bytes, in one of two key spaces that never meet: its text, or the key that
//! the scanner made of it (literals taken out). The value is the owner's choice: a tree, a class, a list of tables.
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
//! - **A hit** hashes the key, compares seven tags at once in at most two cache lines, and borrows the entry of
//!   the slot whose tag is equal. No lock, and no write to a line that other threads write too, except for the
//!   entry's `uses`, which is written only while it is below its maximum: a hot statement is read only.
//! - **An insert** takes the lock of one shard for some hundred nanoseconds; what it pushes out is dropped after the
//!   lock. No thread waits for the parse of another: two threads that miss the same statement both parse it, the first
//!   to insert wins and the other is handed the first one's.
//! - **Eviction** is S3-FIFO's (Yang et al., SOSP 2023): what is new goes through a small queue, a tenth of the
//!   bytes, and only what was hit there, or comes back soon after it fell out (a ghost remembers its hash), gets
//!   to the main queue. A flood of statements seen once churns the tenth and touches nothing else.
//! - **Memory**: the table, the ghosts and the queues are made once, at `entries_max`, and count towards `bytes_max`
//!   as the entries do (key, value, bookkeeping, as an allocator rounds them). An evicted entry is freed when
//!   its last reader lets go of it: neither waits for an epoch.
//! - **Tenants cannot flood a bucket**: the hash is keyed by the owner's seed, and if the seed leaked, a look-up would
//!   still touch two lines: a bucket never grows, it forgets.
//!
//! # Compared
//! Ways to read, a hit of one of 100 keys of 200 bytes by one thread, in nanoseconds, hash and all (2-core machine):
//!
//! | | ns | why not |
//! |---|---|---|
//! | `Mutex<HashMap>`, `Arc` cloned | 44 | one lock for all cores |
//! | `RwLock<HashMap>`, `Arc` cloned | 39 | a reader writes the lock's line, and the count's, which all cores share |
//! | 16 of them (sharded) | 63 | hashes twice; a hot statement's lock is still one for all cores |
//! | quick_cache 0.7 | 40 | the same, in a crate: its readers lock a shard |
//! | papaya 0.2 | 29 | without recency and counters; frees in batches, when readers have moved on, and sizes its table by itself: no bound by bytes would hold |
//! | crossbeam-epoch | | `unsafe` on our side, and frees when the epoch moves on |
//! | std alone | | without a lock, no safe way to read an `Arc` that another thread may replace |
//! | **this**, arc-swap 1.9 in each slot | 48 | recency (1) and counters (6) included; frees at once |
//!
//! Two threads on one cache take the same 48 each as on a cache each. arc-swap's borrow and return are 16 of them.
//!
//! Which entries are evicted: the hit ratio in % of 100 hot statements in a flood of statements that never come back,
//! 5,000 kept:
//!
//! | one hot to | FIFO | LRU | CLOCK | SIEVE | S3-FIFO |
//! |---|---|---|---|---|---|
//! | 20 others | 71 | 92 | 97 | 100 | 100 |
//! | 100 others | 34 | 40 | 45 | 100 | 100 |
//! | 20 others, each run twice | 71 | 92 | 80 | 90 | 99 |
//! | Zipf's 20,000 instead of 100, to 3 others | 53 | 58 | 60 | 76 | 79 |
//!
//! Hashes of 30, 85, 200 bytes, in nanoseconds: rapidhash 3, 6, 9; foldhash 3, 5, 10; ahash 3, 7, 16; SipHash 15, 39, 56.
//! rapidhash, because all its secrets come from an argument: foldhash takes them from a global.

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

/// What is known of statements, by their bytes. Share it as `Arc<Cache<V>>` or `&Cache<V>`.
pub struct Cache<V> {
    hasher: Hasher,
    shards: Box<[Shard<V>]>,
    lookups: Lookups,
    bytes_max: AtomicUsize,
}

impl<V: Weigh> Cache<V> {
    /// An empty cache. `seed` keys the hash: take it from the system's entropy, so that no tenant can know it.
    pub fn new(settings: &Settings, seed: u64) -> Self {
        let count = settings.shards();
        let lookups = Lookups::new();
        let shared_bytes = lookups.bytes() / count;
        let shards = (0..count).map(|_| Shard::new(settings.shard_entries_max(), shared_bytes)).collect();
        let cache = Self { hasher: Hasher::new(seed), shards, lookups, bytes_max: AtomicUsize::new(0) };
        cache.set_bytes_max(settings.bytes_max);
        cache
    }

    /// What is kept for exactly these bytes.
    #[inline]
    pub fn get(&self, key: Key<'_>) -> Option<Cached<V>> {
        let hash = self.hasher.hash(key);
        let found = self.shard(hash).and_then(|shard| shard.get(hash, key));
        self.lookups.count(key.space(), found.is_some());
        found
    }

    /// Keeps `value` for these bytes, unless something is kept for them already: that one then stays, and is
    /// returned. A value that is too large to keep is only returned.
    pub fn insert(&self, key: Key<'_>, value: V) -> Cached<V> {
        let hash = self.hasher.hash(key);
        match self.shard(hash) {
            Some(shard) => shard.insert(Entry::new(hash, key, value)),
            None => Cached::of(Entry::new(hash, key, value)),
        }
    }

    /// What is kept for these bytes, or what `make` makes of them now. Nothing is locked while it does.
    pub fn get_or_insert_with(&self, key: Key<'_>, make: impl FnOnce() -> V) -> Cached<V> {
        self.get(key).unwrap_or_else(|| self.insert(key, make()))
    }

    /// As [`Cache::get_or_insert_with`], where making may fail: nothing is kept then.
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

    /// Changes the bound, and at once evicts what exceeds it. Nothing is kept where the table alone exceeds it:
    /// 0 turns the cache off. `entries_max`, and with it the table, stays as it was made: for many times the bytes,
    /// make a new cache.
    pub fn set_bytes_max(&self, bytes_max: usize) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
        let bounds = Bounds::of_shard(bytes_max, self.shards.len());
        self.shards.iter().for_each(|shard| shard.set_bounds(bounds));
    }

    /// Forgets everything, also what once fell out. Counters stay; values live on where somebody holds them.
    pub fn clear(&self) {
        self.shards.iter().for_each(Shard::clear);
    }

    /// Counters and sizes as they stand. Each is right; together they are not one moment's.
    pub fn stats(&self) -> Stats {
        let mut stats = self.lookups.stats();
        stats.bytes_max = self.bytes_max.load(Ordering::Relaxed);
        self.shards.iter().for_each(|shard| shard.add_to(&mut stats));
        stats
    }

    /// Whichever shard this hash lives in; always there, as there is one shard at least.
    #[inline]
    fn shard(&self, hash: Hash) -> Option<&Shard<V>> {
        self.shards.get(hash.shard(self.shards.len()))
    }
}

impl<V: Weigh> fmt::Debug for Cache<V> {
    /// Sizes and counters only: statements hold what their clients would keep to themselves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
