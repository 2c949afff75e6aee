//! A node of its own.

use std::ptr::NonNull;

use pg_query_sys::nodes as sys;

use super::error::EditError;
use super::list_mut::ListMut;
use super::memory::Memory;
use super::node_mut::NodeMut;
use super::view_mut::*;
use crate::raw::call::Arena;
use crate::raw::enums::{FunctionParameterMode, NodeTag};
use crate::raw::node::Node;
use crate::raw::slots::location_offsets;
use crate::raw::tree::ParsedSql;

/// A node and all below it, owned: made new, or copied from a tree. Set into a tree it becomes part of that, without
/// being copied.
pub struct Fragment {
    node: NonNull<sys::Node>,
    arena: Arena,
}

// SAFETY: as of `ParsedSql`: nothing changes it behind a shared reference, and its memory is of no thread.
unsafe impl Send for Fragment {}
// SAFETY: as above.
unsafe impl Sync for Fragment {}

/// What an arena is made with: most fragments are a few nodes.
const FIRST_BYTES: usize = 512;

impl Fragment {
    /// A node of this type with nothing in it: no nodes, no strings, unknown locations; numbers and letters as the
    /// grammar has them where a text says nothing of them, which is zero except for a few (`typemod` is -1, a table
    /// is of the persistence `p` and with those that inherit from it).
    ///
    /// # Errors
    /// [`EditError::NoSuchNode`] for tags that the grammar has no node of.
    pub fn new(tag: NodeTag) -> Result<Self, EditError> {
        let bytes = size_of_node(tag).ok_or(EditError::NoSuchNode(tag))?;
        let mut arena = Arena::new(FIRST_BYTES.max(bytes)).ok_or(EditError::OutOfMemory)?;
        let node = Memory::of(&mut arena).zeroed(bytes)?;
        // SAFETY: a struct of this tag fits there; all zeros is valid for each of its fields, and the offsets are its own.
        unsafe {
            node.cast::<sys::NodeTag>().write(tag as sys::NodeTag);
            for offset in location_offsets(tag) {
                node.add(offset).cast::<i32>().write(-1);
            }
        }
        let mut fragment = Self { node: node.cast(), arena };
        as_the_grammar_begins(fragment.node_mut());
        Ok(fragment)
    }

    /// A list of nodes, which is a node too: the right side of IN, a row of VALUES.
    ///
    /// # Errors
    /// [`EditError::OutOfMemory`].
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Result<Self, EditError> {
        let mut arena = Arena::new(FIRST_BYTES).ok_or(EditError::OutOfMemory)?;
        let memory = Memory::of(&mut arena);
        let node = memory.zeroed(size_of::<sys::List>())?.cast::<sys::List>();
        let no_cells = memory.cells(0)?;
        // SAFETY: new memory of that size.
        unsafe {
            (*node.as_ptr()).r#type = NodeTag::List as sys::NodeTag;
            // Of no element as well: the invariant of lists.
            (*node.as_ptr()).elements = no_cells.as_ptr();
        }
        let mut slot = node.as_ptr();
        // SAFETY: the slot holds a list of this arena, which nothing else uses.
        let mut list = unsafe { ListMut::of(&raw mut slot, memory) };
        for element in elements {
            list.push(element)?;
        }
        Ok(Self { node: node.cast(), arena })
    }

    /// # Safety
    /// `node` lies in `arena`, and the invariant of trees holds for it.
    pub(super) unsafe fn of(node: NonNull<sys::Node>, arena: Arena) -> Self {
        Self { node, arena }
    }

    /// The node, to be read.
    pub fn node(&self) -> Node<'_> {
        // SAFETY: it lies in the arena that `self` owns.
        unsafe { Node::of(self.node.as_ptr()) }.unwrap_or_else(|| unreachable!("a NonNull is not null"))
    }

    /// The node, to be changed.
    pub fn node_mut(&mut self) -> NodeMut<'_> {
        let memory = Memory::of(&mut self.arena);
        // SAFETY: it lies in the arena that `self` owns, and `self` is borrowed mutably.
        let node = unsafe { NodeMut::of(self.node.as_ptr(), memory) };
        node.unwrap_or_else(|| unreachable!("a NonNull is not null"))
    }

    /// Its memory becomes part of another tree's, and its node may hang there.
    pub(super) fn link(self, memory: Memory, only: Option<NodeTag>) -> Result<*mut sys::Node, EditError> {
        let found = self.node().tag();
        if let Some(expected) = only.filter(|expected| *expected != found) {
            return Err(EditError::WrongType { expected, found });
        }
        memory.adopt(self.arena);
        Ok(self.node.as_ptr())
    }

    /// The one node that `pick` finds below the statements of a tree, which goes on owning its memory. Its locations,
    /// which are of another text than that of the tree it is for, become unknown.
    pub(crate) fn picked(
        tree: ParsedSql,
        pick: impl for<'a> FnOnce(&'a ParsedSql) -> Option<Node<'a>>,
    ) -> Option<Self> {
        let node = NonNull::new(pick(&tree)?.address().cast_mut().cast::<sys::Node>())?;
        let (_, arena) = tree.into_parts();
        // SAFETY: the node was found in the tree whose arena this is.
        let mut fragment = unsafe { Self::of(node, arena) };
        fragment.forget_locations();
        Some(fragment)
    }

    fn forget_locations(&mut self) {
        let mut waiting: Vec<*mut sys::Node> = vec![self.node.as_ptr()];
        while let Some(node) = waiting.pop() {
            // SAFETY: nodes of this fragment, which is borrowed mutably; offsets are those of the tag's struct.
            unsafe {
                let Some(view) = Node::of(node) else { continue };
                waiting
                    .extend(view.children().map(|child| child.node.address().cast_mut().cast::<sys::Node>()));
                for offset in location_offsets(view.tag()) {
                    node.cast::<u8>().add(offset).cast::<i32>().write(-1);
                }
            }
        }
    }
}

/// PostgreSQL's `FRAMEOPTION_DEFAULTS`: RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW.
const FRAME_OPTIONS: i32 = 1058;

/// Gives a new node what the grammar puts into each of its type. Of the corpus's nodes, these are the fields that are
/// never zero and say nothing.
fn as_the_grammar_begins(node: NodeMut<'_>) {
    match node.node().tag() {
        NodeTag::TypeName => {
            node.cast::<TypeNameMut<'_>>().into_iter().for_each(|mut node| node.set_typemod(-1));
        }
        NodeTag::RangeVar => {
            if let Some(mut table) = node.cast::<RangeVarMut<'_>>() {
                table.set_inh(true);
                table.set_relpersistence('p');
            }
        }
        NodeTag::WindowDef => {
            node.cast::<WindowDefMut<'_>>()
                .into_iter()
                .for_each(|mut node| node.set_frame_options(FRAME_OPTIONS));
        }
        NodeTag::NamedArgExpr => {
            node.cast::<NamedArgExprMut<'_>>().into_iter().for_each(|mut node| node.set_argnumber(-1));
        }
        NodeTag::ColumnDef => {
            node.cast::<ColumnDefMut<'_>>().into_iter().for_each(|mut node| node.set_is_local(true));
        }
        NodeTag::FunctionParameter => {
            let mode = FunctionParameterMode::FuncParamDefault;
            node.cast::<FunctionParameterMut<'_>>().into_iter().for_each(|mut node| node.set_mode(mode));
        }
        _ => {}
    }
}
