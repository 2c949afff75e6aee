//! A node that may be changed, and the place that it hangs in.

use std::marker::PhantomData;
use std::ptr::NonNull;

use pg_query_sys::nodes as sys;

use super::error::EditError;
use super::fragment::Fragment;
use super::list_mut::ListMut;
use super::memory::Memory;
use crate::raw::enums::NodeTag;
use crate::raw::fields::is_row_of_other_column;
use crate::raw::list::List;
use crate::raw::node::Node;
use crate::raw::slots::{SlotKind, slots};

/// A node of a tree that is borrowed mutably, of whatever type.
pub struct NodeMut<'t> {
    pub(super) node: NonNull<sys::Node>,
    pub(super) memory: Memory,
    pub(super) tree: PhantomData<&'t mut sys::Node>,
}

/// The typed views of nodes to be changed, to cast a [`NodeMut`] to.
pub trait NodeMutType<'t>: Sized {
    /// The tag of the nodes it views.
    const TAG: NodeTag;

    /// The view of a node; None if it is of another type.
    fn from_node_mut(node: NodeMut<'t>) -> Option<Self>;
}

impl<'t> NodeMut<'t> {
    /// # Safety
    /// `node` is a node of the tree whose arena is `memory`, for which the invariant of trees holds, and which nothing
    /// else reads or writes during `'t`.
    pub(super) unsafe fn of(node: *mut sys::Node, memory: Memory) -> Option<Self> {
        Some(Self { node: NonNull::new(node)?, memory, tree: PhantomData })
    }

    /// The node, to be read.
    pub fn node(&self) -> Node<'_> {
        // SAFETY: not null, the invariant of trees; it is not written to while `self` is borrowed.
        unsafe { Node::of(self.node.as_ptr()) }.unwrap_or_else(|| unreachable!("a NonNull is not null"))
    }

    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> NodeMut<'_> {
        NodeMut { node: self.node, memory: self.memory, tree: PhantomData }
    }

    /// This node as one of type `T`; None if it is of another: `node.cast::<SelectStmtMut<'_>>()`.
    pub fn cast<T: NodeMutType<'t>>(self) -> Option<T> {
        T::from_node_mut(self)
    }
}

/// The place of a node: a field, or an element of a list.
pub struct SlotMut<'t> {
    slot: NonNull<*mut sys::Node>,
    /// The one type that may hang there; any if None.
    only: Option<NodeTag>,
    memory: Memory,
    tree: PhantomData<&'t mut sys::Node>,
}

impl SlotMut<'_> {
    /// The node that hangs there, to be read.
    pub fn node(&self) -> Option<Node<'_>> {
        // SAFETY: the slot is one of a borrowed tree (`each_below_list`).
        unsafe { Node::of(*self.slot.as_ptr()) }
    }

    /// The node that hangs there, to be changed.
    ///
    /// # Panics
    /// Never: a slot that is handed out is not empty.
    pub fn node_mut(&mut self) -> NodeMut<'_> {
        // SAFETY: the slot is one of a tree that is borrowed mutably, and it was not null when it was handed out.
        let node = unsafe { NodeMut::of(*self.slot.as_ptr(), self.memory) };
        node.unwrap_or_else(|| unreachable!("slots that are handed out are not empty"))
    }

    /// Hangs another node there.
    ///
    /// # Errors
    /// [`EditError::WrongType`] where the field holds nodes of one other type.
    pub fn replace(&mut self, fragment: Fragment) -> Result<(), EditError> {
        let node = fragment.link(self.memory, self.only)?;
        // SAFETY: the slot takes nodes of this type, and has no other user.
        unsafe { *self.slot.as_ptr() = node };
        Ok(())
    }
}

/// The place of a node that is still to be visited.
#[derive(Clone, Copy)]
struct Waiting {
    slot: *mut *mut sys::Node,
    only: Option<NodeTag>,
}

/// # Safety
/// `root` is the slot of a list of the tree whose arena is `memory`, which nothing else reads or writes meanwhile.
pub(super) unsafe fn each_below_list(
    root: *mut *mut sys::List,
    memory: Memory,
    mut change: impl FnMut(SlotMut<'_>) -> Result<(), EditError>,
) -> Result<(), EditError> {
    let mut waiting = Vec::new();
    // SAFETY: the caller's.
    unsafe { push_cells(&mut waiting, *root) };
    while let Some(Waiting { slot, only }) = waiting.pop() {
        let Some(slot) = NonNull::new(slot) else { continue };
        // SAFETY: slots come from nodes of the tree, which stay where they are until it goes; those that wait belong to
        // nodes above or beside what `change` could change since.
        let node = unsafe { *slot.as_ptr() };
        if node.is_null() {
            continue;
        }
        change(SlotMut { slot, only, memory, tree: PhantomData })?;
        // SAFETY: as above; what `change` put there is a node of this tree, too.
        unsafe { push_slots(&mut waiting, *slot.as_ptr()) };
    }
    Ok(())
}

/// # Safety
/// `list` is null or a list of a tree that nothing else reads or writes.
unsafe fn push_cells(waiting: &mut Vec<Waiting>, list: *mut sys::List) {
    // SAFETY: the caller's; only lists of nodes have pointers in their cells.
    unsafe {
        if list.is_null() || List::from_raw(list).tag() != NodeTag::List || (*list).elements.is_null() {
            return;
        }
        let length = usize::try_from((*list).length).unwrap_or_default();
        for index in (0..length).rev() {
            waiting.push(Waiting { slot: (*list).elements.add(index).cast(), only: None });
        }
    }
}

/// Pushes the slots of a node, the first last.
///
/// # Safety
/// `node` is null or a node of a tree that nothing else reads or writes.
unsafe fn push_slots(waiting: &mut Vec<Waiting>, node: *mut sys::Node) {
    // SAFETY: the caller's; offsets and kinds are those of the struct that the tag tells.
    unsafe {
        let Some(view) = Node::of(node) else { return };
        if view.as_list().is_some() {
            return push_cells(waiting, node.cast());
        }
        // The row is visited below the first of its columns.
        if is_row_of_other_column(view) {
            return;
        }
        for slot in slots(view.tag()).rev() {
            let place = node.cast::<u8>().add(slot.offset);
            match slot.kind {
                SlotKind::Node(only) => waiting.push(Waiting { slot: place.cast(), only }),
                SlotKind::List => push_cells(waiting, place.cast::<*mut sys::List>().read()),
            }
        }
    }
}

/// Reads a field that points to a node.
///
/// # Safety
/// As of [`NodeMut::of`], for the node that the slot points to.
pub(super) unsafe fn below<'t, T>(slot: *mut *mut T, memory: Memory) -> Option<NodeMut<'t>> {
    // SAFETY: the caller's.
    unsafe { NodeMut::of((*slot).cast(), memory) }
}

/// A list within a list, for example a row of VALUES.
pub(super) unsafe fn list_below<'t>(slot: *mut *mut sys::Node, memory: Memory) -> Option<ListMut<'t>> {
    // SAFETY: the caller's, as of `below`; the tag says that it is a list.
    unsafe {
        let is_list = Node::of(*slot).is_some_and(|node| node.as_list().is_some());
        is_list.then(|| ListMut::of(slot.cast(), memory))
    }
}

const _: () = assert!(size_of::<sys::ListCell>() == size_of::<*mut sys::Node>());
