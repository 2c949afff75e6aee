//! The bounds of a cache.

/// The expected bytes of an entry, for when only `bytes_max` is given: a short statement with a small value. The number
/// is low on purpose, so that `bytes_max` is reached before `entries_max`.
const ENTRY_BYTES_TYPICAL: usize = 512;
/// The highest number of shards, each with its own lock for inserts. It is twice the number of threads that would
/// insert at the same moment on a large machine in the worst case: an insert holds its lock for a tenth of the time
/// of a parse.
const SHARDS_MAX: usize = 16;
/// The smallest shard. A smaller one is not worth its lock, and too small if the load is uneven.
const SHARD_BYTES_MIN: usize = 1 << 20;
/// An entry that needs more than this part of `bytes_max` is not inserted, because too many others would be evicted
/// for it.
const ENTRY_SHARE: usize = 64;
/// The highest number of entries. With 2^28, an empty table needs 8 GiB, and the number of a bucket fits into 32 bits.
const ENTRIES_MAX: usize = 1 << 28;

/// The bounds of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The bound in bytes of everything in the cache: keys, values, table, queues. It can be changed later.
    pub bytes_max: usize,
    /// The highest number of entries. The table is allocated for this many, with about 32 bytes each, and never
    /// changes.
    pub entries_max: usize,
}

impl Settings {
    /// `bytes_max` for a proxy: enough for 50,000 statements of a usual size.
    pub const BYTES_MAX_DEFAULT: usize = 64 << 20;

    /// Settings with this bound in bytes, and with as many entries as probably fit.
    pub const fn with_bytes_max(bytes_max: usize) -> Self {
        Self { bytes_max, entries_max: bytes_max / ENTRY_BYTES_TYPICAL }
    }

    /// The number of shards of a cache with these settings: a power of two.
    pub(super) fn shards(&self) -> usize {
        let wanted = (self.bytes_max / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX);
        1 << wanted.ilog2()
    }

    /// The highest number of entries of one shard.
    pub(super) fn shard_entries_max(&self) -> usize {
        self.entries_max.min(ENTRIES_MAX).div_ceil(self.shards())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::with_bytes_max(Self::BYTES_MAX_DEFAULT)
    }
}

/// The bounds of one shard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The bound in bytes of everything in the shard.
    pub(super) bytes_max: usize,
    /// The bytes of the largest entry that is inserted.
    pub(super) entry_bytes_max: usize,
}

impl Bounds {
    pub(super) fn for_shard(bytes_max: usize, shards: usize) -> Self {
        Self { bytes_max: bytes_max / shards.max(1), entry_bytes_max: bytes_max / ENTRY_SHARE }
    }
}
