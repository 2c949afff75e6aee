//! How large a cache may become.

/// Bytes that an entry is expected to take when only `bytes_max` is given: a short
/// statement with little kept of it. Meant to be low, so that it is bytes that run out first.
const ENTRY_BYTES_TYPICAL: usize = 512;
/// Locks that inserts are spread over: twice the threads that would insert at once on a large machine's worst day,
/// as an insert holds its lock for a tenth of what the parse before it took.
const SHARDS_MAX: usize = 16;
/// Bytes below which a shard is not worth its lock, and its share of a skewed load too small.
const SHARD_BYTES_MIN: usize = 1 << 20;
/// An entry that takes more than this part of `bytes_max` is not kept: it would push out too many for one.
const ENTRY_SHARE: usize = 64;
/// Entries that the largest table has slots for: 2^28 take 8 GiB before the first, and keep a bucket's number within 32 bits.
const ENTRIES_MAX: usize = 1 << 28;

/// The bounds of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of everything in the cache: keys, values, table, queues. Can be changed later.
    pub bytes_max: usize,
    /// Statements that are kept at most. The table is made for this many, at about 32 bytes each, and stays.
    pub entries_max: usize,
}

impl Settings {
    /// `bytes_max` for a proxy: 50,000 statements of a usual size.
    pub const BYTES_MAX_DEFAULT: usize = 64 << 20;

    /// Bounds for this many bytes, with as many entries as are likely to fit.
    pub const fn with_bytes_max(bytes_max: usize) -> Self {
        Self { bytes_max, entries_max: bytes_max / ENTRY_BYTES_TYPICAL }
    }

    /// Shards of a cache made with these: a power of two.
    pub(super) fn shards(&self) -> usize {
        let wanted = (self.bytes_max / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX);
        1 << wanted.ilog2()
    }

    /// Entries that each of the shards is made for.
    pub(super) fn shard_entries_max(&self) -> usize {
        self.entries_max.min(ENTRIES_MAX).div_ceil(self.shards())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::with_bytes_max(Self::BYTES_MAX_DEFAULT)
    }
}

/// What `bytes_max` means for one shard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes of all that the shard holds.
    pub(super) bytes_max: usize,
    /// Bytes of the largest entry that is kept.
    pub(super) entry_bytes_max: usize,
}

impl Bounds {
    pub(super) fn of_shard(bytes_max: usize, shards: usize) -> Self {
        Self { bytes_max: bytes_max / shards.max(1), entry_bytes_max: bytes_max / ENTRY_SHARE }
    }
}
