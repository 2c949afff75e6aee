//! What a cache says of itself. Hits and misses are counted without a line that all cores write.

use std::sync::atomic::{AtomicU64, Ordering};

use super::key::Space;

/// Hits and misses of one key space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpaceStats {
    /// Look-ups that found what they sought.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
}

/// Counters since the cache was made, and its sizes now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Look-ups by text.
    pub text: SpaceStats,
    /// Look-ups by what `scan_key` wrote.
    pub scanned: SpaceStats,
    /// Values that were kept.
    pub inserts: u64,
    /// Values that made way for others or for a lower bound; not those of `clear`.
    pub evictions: u64,
    /// Values that were not kept because they alone were too large, or the cache is off.
    pub refusals: u64,
    /// Values kept now.
    pub entries: usize,
    /// The bound of `entries`.
    pub entries_max: usize,
    /// Bytes of all that is kept now, the table included.
    pub bytes: usize,
    /// The bound of `bytes`.
    pub bytes_max: usize,
}

/// Lines to count on: threads that count on one take turns at it, so a few more than the cores of a large machine.
const STRIPES: usize = 64;
/// Bits of an address that all frames of one thread share, nearly always: Rust's stacks are 2 MiB apart and more.
const STACK_BITS: u32 = 21;

/// Two lines, as processors fetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Stripe {
    /// Hits and misses by text, hits and misses by scanned key.
    counts: [AtomicU64; 4],
}

/// Counters of look-ups, one stripe a thread as far as they go.
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
        // Threads are told apart by where their stacks lie: core knows no thread and keeps no global. Which stripe
        // it is matters to speed only.
        let here = 0_u8;
        let stripe = (&raw const here).addr() >> STACK_BITS;
        let which = 2 * usize::from(space == Space::Scanned) + usize::from(!hit);
        if let Some(count) = self.stripes.get(stripe % STRIPES).and_then(|stripe| stripe.counts.get(which)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The sums, and nothing else.
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
