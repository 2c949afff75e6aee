//! Sets of small integers. PostgreSQL's planner makes them; the grammar leaves them NULL.

use std::slice;

use pg_query_sys::nodes as sys;

use super::pointer::Pointer;

/// Bits of a word of a set.
const WORD_BITS: u32 = u64::BITS;

/// A set of integers from 0. C's NULL is the empty set.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bitmapset<'a>(Option<Pointer<'a, sys::Bitmapset>>);

impl<'a> Bitmapset<'a> {
    /// The set a field points to.
    ///
    /// # Safety
    /// `raw` is NULL or points to a set for which the invariant of trees holds during `'a`.
    #[inline]
    pub(crate) unsafe fn of(raw: *const sys::Bitmapset) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { Pointer::new(raw) })
    }

    fn words(self) -> &'a [u64] {
        let Some(set) = self.0 else { return &[] };
        let count = usize::try_from(set.get().nwords).unwrap_or(0);
        // SAFETY: invariant of trees: `nwords` words follow the head, in the same allocation.
        unsafe { slice::from_raw_parts((&raw const (*set.address()).words).cast(), count) }
    }

    /// Its members, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> + use<'a> {
        let words = (0_u32..).zip(self.words());
        words.flat_map(|(place, word)| {
            (0..WORD_BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * WORD_BITS + bit)
        })
    }

    /// Whether it has no member.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.words().iter().all(|word| *word == 0)
    }
}
