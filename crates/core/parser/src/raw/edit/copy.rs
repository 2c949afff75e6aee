//! Copies of nodes, to hang them elsewhere.

use std::collections::HashMap;
use std::ptr::{self, NonNull};

use pg_query_sys::nodes as sys;

use super::error::EditError;
use super::fragment::Fragment;
use super::memory::Memory;
use super::view_mut::size_of_node;
use crate::raw::call::Arena;
use crate::raw::enums::NodeTag;
use crate::raw::list::List;
use crate::raw::node::{Node, text};
use crate::raw::slots::{slots, string_offsets};

/// What an arena for copies is made with.
const FIRST_BYTES: usize = 2048;

impl Node<'_> {
    /// A copy of this node and all below it, to be set elsewhere.
    ///
    /// # Errors
    /// [`EditError::OutOfMemory`]; [`EditError::NoSuchNode`] for what the grammar makes no nodes of.
    pub fn to_fragment(self) -> Result<Fragment, EditError> {
        let mut arena = Arena::new(FIRST_BYTES).ok_or(EditError::OutOfMemory)?;
        let mut copier = Copier { memory: Memory::of(&mut arena), waiting: Vec::new(), rows: HashMap::new() };
        let mut root: *mut sys::Node = ptr::null_mut();
        copier.waiting.push((self, &raw mut root));
        while let Some((node, slot)) = copier.waiting.pop() {
            let copy = match copier.rows.get(&node.address()) {
                Some(copy) if !copy.is_null() => *copy,
                _ => copier.copy(node)?,
            };
            // SAFETY: `slot` is `root`, or a field of a copy in the new arena.
            unsafe { *slot = copy };
        }
        let root = NonNull::new(root).ok_or(EditError::OutOfMemory)?;
        // SAFETY: it was copied into this arena, and all its pointers were replaced by such of copies.
        Ok(unsafe { Fragment::of(root, arena) })
    }
}

struct Copier<'a> {
    memory: Memory,
    /// Nodes that are still to be copied, and the fields that their copies' addresses go to.
    waiting: Vec<(Node<'a>, *mut *mut sys::Node)>,
    /// Rows that several columns are assigned from, and their copies: the copies of the columns have one in common too.
    rows: HashMap<*const (), *mut sys::Node>,
}

impl<'a> Copier<'a> {
    fn copy(&mut self, node: Node<'a>) -> Result<*mut sys::Node, EditError> {
        let copy = match node.as_list() {
            Some(list) => self.list(list)?.cast(),
            None => self.node(node)?,
        };
        if let Some(row) = self.rows.get_mut(&node.address()) {
            *row = copy;
        }
        Ok(copy)
    }

    fn node(&mut self, node: Node<'a>) -> Result<*mut sys::Node, EditError> {
        let tag = node.tag();
        let bytes = size_of_node(tag).ok_or(EditError::NoSuchNode(tag))?;
        let copy = self.memory.zeroed(bytes)?;
        let original = node.address().cast::<u8>();
        // SAFETY: both are structs of this tag; offsets and kinds are those of its fields. Each pointer of the copy is
        // replaced before anyone reads it: by null, by a copied string, or when its node is copied.
        unsafe {
            ptr::copy_nonoverlapping(original, copy.as_ptr(), bytes);
            for offset in string_offsets(tag) {
                self.string(copy.add(offset).cast())?;
            }
            for slot in slots(tag) {
                let place = copy.add(slot.offset).cast::<*mut sys::Node>().as_ptr();
                let below = Node::of(*place);
                *place = ptr::null_mut();
                if let Some(row) = below.filter(|_| tag == NodeTag::MultiAssignRef) {
                    self.rows.entry(row.address()).or_insert(ptr::null_mut());
                }
                self.waiting.extend(below.map(|below| (below, place)));
            }
            if tag == NodeTag::AConst {
                self.constant(copy.cast())?;
            }
        }
        Ok(copy.as_ptr().cast())
    }

    /// A constant's value lies in its node.
    ///
    /// # Safety
    /// `constant` is a copy of a constant.
    unsafe fn constant(&self, constant: NonNull<sys::A_Const>) -> Result<(), EditError> {
        // SAFETY: the caller's: the union's tag says which member it has.
        unsafe {
            let value = &raw mut (*constant.as_ptr()).val;
            let Some(node) = Node::of(value.cast_const().cast()) else { return Ok(()) };
            let place = match node.tag() {
                NodeTag::Float => &raw mut (*value.cast::<sys::Float>()).fval,
                NodeTag::String => &raw mut (*value.cast::<sys::String>()).sval,
                NodeTag::BitString => &raw mut (*value.cast::<sys::BitString>()).bsval,
                _ => return Ok(()),
            };
            self.string(NonNull::new_unchecked(place))
        }
    }

    /// Replaces a pointer to a string by one to its copy.
    ///
    /// # Safety
    /// `place` holds null or a string of a tree.
    unsafe fn string(&self, place: NonNull<*mut std::ffi::c_char>) -> Result<(), EditError> {
        // SAFETY: the caller's.
        unsafe {
            if let Some(text) = text(*place.as_ptr()) {
                *place.as_ptr() = self.memory.string(text)?;
            }
        }
        Ok(())
    }

    fn list(&mut self, list: List<'a>) -> Result<*mut sys::List, EditError> {
        let copy: *mut sys::List = self.memory.zeroed(size_of::<sys::List>())?.as_ptr().cast();
        let cells = self.memory.cells(list.len().max(1))?;
        let length = i32::try_from(list.len()).map_err(|_| EditError::OutOfMemory)?;
        // SAFETY: new memory, with room for this many cells.
        unsafe {
            (*copy).r#type = list.tag() as sys::NodeTag;
            (*copy).length = length;
            (*copy).max_length = length.max(1);
            (*copy).elements = cells.as_ptr();
            if list.tag() == NodeTag::List {
                for (index, node) in list.iter().enumerate() {
                    let place = cells.as_ptr().add(index).cast::<*mut sys::Node>();
                    self.waiting.extend(node.map(|node| (node, place)));
                }
            } else {
                ptr::copy_nonoverlapping(list.first_cell(), cells.as_ptr(), list.len());
            }
        }
        Ok(copy)
    }
}
