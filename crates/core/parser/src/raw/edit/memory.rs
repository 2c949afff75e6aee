//! Memory of the tree that is being changed.

use std::ffi::c_char;
use std::ptr::{self, NonNull};

use pg_query_sys as sys;

use super::error::EditError;
use crate::raw::call::Arena;

/// The arena of a tree that is borrowed mutably.
#[derive(Clone, Copy)]
pub(super) struct Memory(NonNull<sys::Arena>);

impl Memory {
    pub(super) fn of(arena: &mut Arena) -> Self {
        Self(arena.pointer())
    }

    /// This many zero bytes, aligned to 8.
    pub(super) fn zeroed(self, bytes: usize) -> Result<NonNull<u8>, EditError> {
        // SAFETY: the arena is there and has no other user: its tree is borrowed mutably.
        let memory = unsafe { sys::trunkline_alloc(self.0.as_ptr(), bytes) };
        let memory = NonNull::new(memory.cast::<u8>()).ok_or(EditError::OutOfMemory)?;
        // SAFETY: `trunkline_alloc` gave this many bytes.
        unsafe { ptr::write_bytes(memory.as_ptr(), 0, bytes) };
        Ok(memory)
    }

    /// A copy of a string, with a NUL after it.
    pub(super) fn string(self, text: &str) -> Result<*mut c_char, EditError> {
        if text.as_bytes().contains(&0) {
            return Err(EditError::Nul);
        }
        let copy = self.zeroed(text.len() + 1)?;
        // SAFETY: `copy` has room for the text, and is new, so they do not overlap.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), copy.as_ptr(), text.len()) };
        Ok(copy.as_ptr().cast())
    }

    /// Room for this many cells of a list.
    pub(super) fn cells(self, count: usize) -> Result<NonNull<sys::nodes::ListCell>, EditError> {
        let bytes = count.checked_mul(size_of::<sys::nodes::ListCell>()).ok_or(EditError::OutOfMemory)?;
        self.zeroed(bytes).map(NonNull::cast)
    }

    /// What lies in another arena lives in this one from now on.
    pub(super) fn adopt(self, other: Arena) {
        let other = other.into_pointer();
        // SAFETY: both are arenas, not the same (`other` was owned), and neither has another user.
        unsafe { sys::trunkline_adopt(self.0.as_ptr(), other.as_ptr()) };
    }
}
