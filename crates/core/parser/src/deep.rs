//! Recursion as deep as a tree is, on any thread.
//!
//! A tree can be a million levels deep (`1 + 1 + ...`), a thread's stack has 2 MiB. Code that recurses over a tree does
//! so through [`deeper`], which goes on on a new piece of stack when the present one runs short.

/// What is left of the stack when it is time for a new piece: more than the frames between two calls of [`deeper`] take,
/// in a debug build too.
const RED_ZONE_BYTES: usize = 128 * 1024;
/// How large a new piece is.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;

/// Calls `work` with stack enough to call `deeper` again.
#[inline]
pub(crate) fn deeper<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE_BYTES, SEGMENT_BYTES, work)
}
