//! What the cache says it takes is what the allocator gave out: alone in its process, with an allocator that counts.

use peak_alloc::PeakAlloc;
use trunkline_parser::cache::{Cache, Key, Settings, Weigh};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const BYTES_MAX: usize = 64 * MIB;
/// What the test harness's own thread may take or give back meanwhile.
const OTHERS_BYTES: usize = 64 * 1024;

struct Tree(Vec<u8>);

impl Weigh for Tree {
    fn heap_bytes(&self) -> usize {
        self.0.capacity()
    }
}

/// Puts in this many statements, from one number on, of lengths from 8 to 3,000 bytes with trees of up to
/// `tree_bytes_max`.
fn flood(cache: &Cache<Tree>, numbers: std::ops::Range<u32>, tree_bytes_max: u32) {
    for n in numbers {
        let random = n.wrapping_mul(0x9e37_79b9) >> 8;
        let length =
            8 + if random.is_multiple_of(10) { random as usize % 3000 } else { random as usize % 200 };
        let text = format!("{n:length$}");
        cache.get_or_insert_with(Key::text(&text), || Tree(vec![1; (random % tree_bytes_max) as usize]));
        if n.is_multiple_of(3) {
            // Some are used, so that both queues fill.
            drop(cache.get(Key::text(&text)));
        }
    }
}

#[test]
fn its_bound_is_what_it_takes() {
    for tree_bytes_max in [64, 8_000] {
        let before = ALLOCATOR.current_usage();
        let taken = || ALLOCATOR.current_usage().saturating_sub(before);
        ALLOCATOR.reset_peak_usage();
        let cache = Cache::new(&Settings::with_bytes_max(BYTES_MAX), 7);
        let empty = cache.stats().bytes;
        assert!(taken().abs_diff(empty) < OTHERS_BYTES, "{} taken, {empty} told", taken());

        std::thread::scope(|scope| {
            for thread in 0..4 {
                let cache = &cache;
                scope.spawn(move || flood(cache, thread * 45_000..(thread + 1) * 45_000, tree_bytes_max));
            }
        });
        let (peak, stats) = (ALLOCATOR.peak_usage() - before, cache.stats());
        assert!(stats.evictions > 10_000, "{stats:?}");
        assert!(peak <= 70 * MIB, "{peak} at the peak: {stats:?}");
        // No less than it says either, except for what an allocator rounds: 24 bytes for each of three pieces.
        let rounding = stats.entries * 72;
        assert!(taken() <= stats.bytes + OTHERS_BYTES, "{} taken: {stats:?}", taken());
        assert!(taken() + rounding >= stats.bytes, "{} taken: {stats:?}", taken());

        cache.set_bytes_max(BYTES_MAX / 4);
        assert!(taken() <= BYTES_MAX / 4 + OTHERS_BYTES, "{} taken after the bound was lowered", taken());
        cache.clear();
        assert!(taken() <= empty + OTHERS_BYTES, "{} taken after a clear, {empty} when it was new", taken());
        drop(cache);
        assert!(taken() <= OTHERS_BYTES, "{} left over", taken());
    }
}
