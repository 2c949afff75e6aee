//! Lets code recurse over a tree of any depth, on any thread.
//!
//! A tree can be a million levels deep (`1 + 1 + ...`), but a thread's stack has 2 MiB. So code that recurses over a
//! tree calls [`deeper`] at each level, which allocates a new piece of stack when the current one is nearly used up.

/// A new piece of stack is allocated when less than this is left. The frames between two calls of [`deeper`] need
/// less, also in a debug build.
const RED_ZONE_BYTES: usize = 128 * 1024;
/// The size of a new piece of stack.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;

/// Calls `work` with enough stack to call `deeper` again.
#[inline]
pub(crate) fn deeper<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE_BYTES, SEGMENT_BYTES, work)
}
