//! The counters and sizes of a cache. Hits and misses are counted without a cache line that all cores write.

use std::sync::atomic::{AtomicU64, Ordering};

use super::key::Space;

/// The hits and misses of one key space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpaceStats {
    /// Look-ups that found a value.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
}

/// The counters since the cache was made, and its current sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Look-ups by text.
    pub text: SpaceStats,
    /// Look-ups by a key from `scan_key`.
    pub scanned: SpaceStats,
    /// Values that were inserted.
    pub inserts: u64,
    /// Values that were evicted for others or for a lower bound. Values that `clear` removed do not count.
    pub evictions: u64,
    /// Values that were not inserted because they were too large or the cache is off.
    pub refusals: u64,
    /// The current number of values.
    pub entries: usize,
    /// The bound of `entries`.
    pub entries_max: usize,
    /// The current bytes of everything, including the table.
    pub bytes: usize,
    /// The bound of `bytes`.
    pub bytes_max: usize,
}

/// The number of stripes of counters. Threads with the same stripe slow each other down, so there are a few more than a
/// large machine has cores.
const STRIPES: usize = 64;
/// The number of low bits in which addresses on one thread's stack differ: Rust's stacks are at least 2 MiB apart.
const STACK_BITS: u32 = 21;

/// Counters on their own two cache lines: two, because processors fetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Stripe {
    /// Hits and misses by text, then hits and misses by scanned key.
    counts: [AtomicU64; 4],
}

/// The counters of look-ups. Each thread has its own stripe, if there are enough.
pub(super) struct Lookups {
    stripes: Box<[Stripe]>,
}

impl Lookups {
    pub(super) fn new() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Stripe::default()).collect() }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.stripes)
    }

    #[inline]
    pub(super) fn count(&self, space: Space, hit: bool) {
        // The address of the stack shows which thread this is, because `core` crates may not use threads or globals. A
        // wrong guess only costs speed.
        let here = 0_u8;
        let stripe = (&raw const here).addr() >> STACK_BITS;
        let which = 2 * usize::from(space == Space::Scanned) + usize::from(!hit);
        if let Some(count) = self.stripes.get(stripe % STRIPES).and_then(|stripe| stripe.counts.get(which)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Stats with only the sums of these counters.
    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        for stripe in &self.stripes {
            let [text_hits, text_misses, scanned_hits, scanned_misses] =
                stripe.counts.each_ref().map(|count| count.load(Ordering::Relaxed));
            stats.text.hits += text_hits;
            stats.text.misses += text_misses;
            stats.scanned.hits += scanned_hits;
            stats.scanned.misses += scanned_misses;
        }
        stats
    }
}
