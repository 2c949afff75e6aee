//! A list that may be changed.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use pg_query_sys::nodes as sys;

use super::error::EditError;
use super::fragment::Fragment;
use super::memory::Memory;
use super::node_mut::{self, NodeMut};
use crate::raw::enums::NodeTag;
use crate::raw::list::List;

/// A list of nodes of a tree that is borrowed mutably; where the tree has none yet, it comes into being with its first
/// element.
pub struct ListMut<'t> {
    slot: NonNull<*mut sys::List>,
    memory: Memory,
    tree: PhantomData<&'t mut sys::List>,
}

impl ListMut<'_> {
    /// # Safety
    /// `slot` holds null or a list of the tree whose arena is `memory`, which nothing else reads or writes during `'t`.
    pub(super) unsafe fn of(slot: *mut *mut sys::List, memory: Memory) -> Self {
        // SAFETY: the caller's: it is the address of a field.
        Self { slot: unsafe { NonNull::new_unchecked(slot) }, memory, tree: PhantomData }
    }

    fn raw(&self) -> *mut sys::List {
        // SAFETY: the slot is of a borrowed tree.
        unsafe { *self.slot.as_ptr() }
    }

    /// The list, to be read.
    pub fn list(&self) -> List<'_> {
        // SAFETY: null or a list of this tree, which is not written to while `self` is borrowed.
        unsafe { List::from_raw(self.raw()) }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.list().len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.list().is_empty()
    }

    /// The place of an element; None past the end, and where the elements are not nodes.
    fn cell(&self, index: usize) -> Option<*mut *mut sys::Node> {
        if index >= self.len() || self.list().tag() != NodeTag::List {
            return None;
        }
        // SAFETY: the list has more than `index` cells.
        Some(unsafe { (*self.raw()).elements.add(index) }.cast())
    }

    /// An element; None past the end, and where it is NULL.
    pub fn get_mut(&mut self, index: usize) -> Option<NodeMut<'_>> {
        // SAFETY: a cell of this list, borrowed for as long as `self`.
        self.cell(index).and_then(|cell| unsafe { node_mut::below(cell, self.memory) })
    }

    /// An element that is itself a list.
    pub fn list_mut(&mut self, index: usize) -> Option<ListMut<'_>> {
        // SAFETY: as in `get_mut`.
        self.cell(index).and_then(|cell| unsafe { node_mut::list_below(cell, self.memory) })
    }

    /// Puts another node in the place of an element.
    ///
    /// # Errors
    /// [`EditError::OutOfRange`] past the end.
    pub fn replace(&mut self, index: usize, fragment: Fragment) -> Result<(), EditError> {
        let cell = self.cell(index).ok_or(EditError::OutOfRange)?;
        let node = fragment.link(self.memory, None)?;
        // SAFETY: a cell of this list.
        unsafe { *cell = node };
        Ok(())
    }

    /// Puts a node at the end.
    ///
    /// # Errors
    /// [`EditError::NotOfNodes`] for a list of numbers, [`EditError::OutOfMemory`].
    pub fn push(&mut self, fragment: Fragment) -> Result<(), EditError> {
        self.insert(self.len(), fragment)
    }

    /// Puts a node before an element, or at the end.
    ///
    /// # Errors
    /// As of [`push`](Self::push), and [`EditError::OutOfRange`].
    pub fn insert(&mut self, index: usize, fragment: Fragment) -> Result<(), EditError> {
        let length = self.len();
        if index > length {
            return Err(EditError::OutOfRange);
        }
        let list = self.with_room_for_one_more()?;
        let node = fragment.link(self.memory, None)?;
        // SAFETY: the list has room for `length + 1` cells, of which `length` are in use.
        unsafe {
            let cells = (*list).elements;
            ptr::copy(cells.add(index), cells.add(index + 1), length - index);
            (*cells.add(index)).ptr_value = node.cast();
            (*list).length += 1;
        }
        Ok(())
    }

    /// Takes an element out; false past the end.
    pub fn remove(&mut self, index: usize) -> bool {
        let length = self.len();
        if index >= length {
            return false;
        }
        let list = self.raw();
        // SAFETY: the list has `length` cells, and `index` is one of them.
        unsafe {
            let cells = (*list).elements;
            ptr::copy(cells.add(index + 1), cells.add(index), length - index - 1);
            (*list).length -= 1;
        }
        // A list of the grammar is never empty: there is none instead.
        if length == 1 {
            self.clear();
        }
        true
    }

    /// Takes all elements out.
    pub fn clear(&mut self) {
        // SAFETY: the slot is of a tree that is borrowed mutably.
        unsafe { *self.slot.as_ptr() = ptr::null_mut() };
    }

    /// The list, made if there is none, with room for one cell more than it has.
    fn with_room_for_one_more(&mut self) -> Result<*mut sys::List, EditError> {
        let mut list = self.raw();
        if list.is_null() {
            list = self.memory.zeroed(size_of::<sys::List>())?.as_ptr().cast();
            // SAFETY: new memory, large enough for a list without cells of its own.
            unsafe { (*list).r#type = NodeTag::List as sys::NodeTag };
        } else if self.list().tag() != NodeTag::List {
            return Err(EditError::NotOfNodes);
        }
        // SAFETY: a list of this tree, or the new one.
        unsafe {
            let (length, room) = ((*list).length, (*list).max_length);
            if length >= room {
                let wanted = room.max(2).checked_mul(2).ok_or(EditError::OutOfMemory)?;
                let cells = self.memory.cells(usize::try_from(wanted).unwrap_or_default())?;
                let length = usize::try_from(length).unwrap_or_default();
                if length > 0 {
                    ptr::copy_nonoverlapping((*list).elements, cells.as_ptr(), length);
                }
                (*list).elements = cells.as_ptr();
                (*list).max_length = wanted;
            }
            *self.slot.as_ptr() = list;
        }
        Ok(list)
    }
}
