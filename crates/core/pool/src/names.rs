//! The types for a moment and for a pool's number.

use std::num::NonZeroU32;
use std::time::Duration;

/// A moment: microseconds of the process's own clock, never 0.
pub type Micros = u64;

pub(crate) fn micros(duration: Duration) -> Micros {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Whether `timeout` has passed since `since`.
pub(crate) fn has_passed(timeout: Duration, since: Micros, now: Micros) -> bool {
    now.saturating_sub(since) >= micros(timeout)
}

/// A pool's number, the same in every worker. After a pool was forgotten, another pool can get its place in the workers'
/// tables, but not its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId {
    place: u32,
    /// Never zero, so that an `Option` of a number takes no more room than the number.
    generation: NonZeroU32,
}

impl PoolId {
    /// The number of the first pool at a place.
    pub(crate) const fn first(place: u32) -> Self {
        Self::new(place, NonZeroU32::MIN)
    }

    /// Of the pool that takes the place after this one. After 2^32 pools at one place their numbers begin again.
    pub(crate) const fn next(self) -> Self {
        Self::new(
            self.place,
            match self.generation.checked_add(1) {
                Some(generation) => generation,
                None => NonZeroU32::MIN,
            },
        )
    }

    const fn new(place: u32, generation: NonZeroU32) -> Self {
        Self { place, generation }
    }

    /// The pool's index in each worker's table of pools. Indexes are dense, and are used again.
    #[inline]
    #[must_use]
    pub const fn place(self) -> usize {
        self.place as usize
    }

    pub(crate) const fn to_u64(self) -> u64 {
        ((self.generation.get() as u64) << 32) | self.place as u64
    }
}

impl std::fmt::Debug for PoolId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.place, self.generation)
    }
}
