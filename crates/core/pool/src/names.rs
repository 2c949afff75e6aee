//! The types for a moment and for a pool's number.

/// A moment: microseconds of the process's own clock, never 0.
pub type Micros = u64;

/// A pool's number, the same in every worker. After a pool was forgotten, another pool can get its place in the workers'
/// tables, but not its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId {
    place: u32,
    generation: u32,
}

impl PoolId {
    /// The number of no pool.
    pub const NONE: Self = Self { place: u32::MAX, generation: u32::MAX };

    pub(crate) const fn new(place: u32, generation: u32) -> Self {
        Self { place, generation }
    }

    /// The pool's index in each worker's table of pools. Indexes are dense, and are used again.
    #[inline]
    #[must_use]
    pub const fn place(self) -> usize {
        self.place as usize
    }

    pub(crate) const fn generation(self) -> u32 {
        self.generation
    }

    pub(crate) const fn to_u64(self) -> u64 {
        ((self.generation as u64) << 32) | self.place as u64
    }
}

impl std::fmt::Debug for PoolId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.place, self.generation)
    }
}
