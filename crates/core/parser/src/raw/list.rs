//! Lists of a tree.

use std::marker::PhantomData;

use pg_query_sys::nodes as sys;

/// A list of a tree.
#[derive(Clone, Copy)]
pub struct List<'a> {
    list: *const sys::List,
    tree: PhantomData<&'a sys::List>,
}

impl List<'_> {
    /// # Safety
    /// `list` is null or a list of a tree that lives as long as `'a`.
    pub(super) unsafe fn from_raw(list: *const sys::List) -> Self {
        Self { list, tree: PhantomData }
    }

    /// How many elements it has.
    pub fn len(self) -> usize {
        // SAFETY: the invariant of `raw`.
        unsafe { self.list.as_ref() }.map_or(0, |list| usize::try_from(list.length).unwrap_or_default())
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
