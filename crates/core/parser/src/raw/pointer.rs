//! A pointer into a tree that C made, and the invariant all of `raw` stands on.
//!
//! **The invariant of trees.** Every pointer a node holds is NULL or points to a node (list, string, array of
//! cells) of the type its field is declared with in PostgreSQL's headers; that node is initialized, lies in the
//! same tree's memory, lives as long as the tree, and nobody writes to it while a view of the tree lives. A
//! node's first field is the tag of its type. Strings end in NUL and are UTF-8. PostgreSQL's grammar keeps the
//! first part, [`Pointer::new`]'s callers the second: `'a` borrows the tree.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// A pointer to a `T` of a tree that is borrowed for `'a`. As large as a pointer; `Option` of it too.
#[repr(transparent)]
pub(crate) struct Pointer<'a, T> {
    raw: NonNull<T>,
    tree: PhantomData<&'a T>,
}

impl<T> Clone for Pointer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<'_, T> {}

// SAFETY: it is a shared reference in all but name, and nobody writes while it lives (invariant of trees).
unsafe impl<T> Send for Pointer<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Pointer<'_, T> {}

impl<'a, T> Pointer<'a, T> {
    /// A pointer of a tree; None for NULL.
    ///
    /// # Safety
    /// `raw` is NULL or points to a `T` for which the invariant of trees holds during `'a`.
    #[inline]
    pub(crate) unsafe fn new(raw: *const T) -> Option<Self> {
        NonNull::new(raw.cast_mut()).map(|raw| Self { raw, tree: PhantomData })
    }

    /// The same address as another type.
    ///
    /// # Safety
    /// A `U` lies there for which the invariant of trees holds.
    #[inline]
    pub(crate) unsafe fn cast<U>(self) -> Pointer<'a, U> {
        Pointer { raw: self.raw.cast(), tree: PhantomData }
    }

    /// What lies there.
    #[inline]
    pub(crate) fn get(self) -> &'a T {
        // SAFETY: invariant of trees: it is initialized, and not written to during `'a`.
        unsafe { self.raw.as_ref() }
    }

    /// The address.
    #[inline]
    pub(crate) fn address(self) -> *mut T {
        self.raw.as_ptr()
    }
}
