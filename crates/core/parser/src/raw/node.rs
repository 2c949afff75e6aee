//! A node of any type.

use std::ffi::{CStr, c_char};

use pg_query_sys::nodes as sys;

use super::enums::NodeTag;
use super::list::List;
use super::pointer::Pointer;

/// A node of a tree, of whatever type. Costs a pointer.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Node<'a>(Pointer<'a, sys::Node>);

/// The typed views, to cast a [`Node`] to: see [`Node::cast`].
pub trait NodeType<'a>: Copy + Into<Node<'a>> + sealed::Sealed {
    /// The tag of the nodes it views.
    const TAG: NodeTag;

    /// The view of a node; None if it is of another type.
    fn from_node(node: Node<'a>) -> Option<Self>;
}

pub(super) mod sealed {
    /// Views exist for C's structs only: the tag must tell the memory behind the pointer.
    pub trait Sealed {}
}

impl<'a> Node<'a> {
    /// The node a pointer points to; None for NULL.
    ///
    /// # Safety
    /// `raw` is NULL or points to a node for which the invariant of trees holds during `'a`.
    #[inline]
    pub(crate) unsafe fn of(raw: *const sys::Node) -> Option<Self> {
        // SAFETY: the caller's.
        unsafe { Pointer::new(raw) }.map(Self)
    }

    /// The node at a pointer of a tree.
    #[inline]
    pub(super) fn of_pointer(pointer: Pointer<'a, sys::Node>) -> Self {
        Self(pointer)
    }

    /// A list as a node.
    #[inline]
    pub(super) fn of_list(list: Pointer<'a, sys::List>) -> Self {
        // SAFETY: a list begins with its tag, as a node does.
        Self(unsafe { list.cast() })
    }

    /// The view of this node that a pointer to `T` is.
    ///
    /// # Safety
    /// The node's tag is that of `T`.
    #[inline]
    pub(super) unsafe fn pointer<T>(self) -> Pointer<'a, T> {
        // SAFETY: the caller's, and the invariant of trees: the tag tells the type.
        unsafe { self.0.cast() }
    }

    /// This node as a list, of nodes, integers or object ids; None if it is none.
    #[inline]
    #[must_use]
    pub fn as_list(self) -> Option<List<'a>> {
        match self.tag() {
            NodeTag::List | NodeTag::IntList | NodeTag::OidList | NodeTag::XidList => {
                // SAFETY: the tag says that a list lies there, and the invariant of trees holds for it.
                Some(unsafe { List::from_raw(self.0.address().cast()) })
            }
            _ => None,
        }
    }
}

impl<'a> Node<'a> {
    /// The node's type. For an embedded struct ([`CreateForeignTableStmt::base`]) that of what embeds it.
    ///
    /// [`CreateForeignTableStmt::base`]: crate::node::CreateForeignTableStmt::base
    #[inline]
    #[must_use]
    pub fn tag(self) -> NodeTag {
        NodeTag::from_raw(self.0.get().r#type)
    }

    /// This node as one of type `T`; None if it is of another:
    /// `node.cast::<SelectStmt>()`.
    #[inline]
    #[must_use]
    pub fn cast<T: NodeType<'a>>(self) -> Option<T> {
        T::from_node(self)
    }

    /// Whether this node is of type `T`.
    #[inline]
    #[must_use]
    pub fn is<T: NodeType<'a>>(self) -> bool {
        self.tag() == T::TAG
    }

    /// Where a field lies, this many bytes from the node's beginning.
    #[inline]
    pub(super) fn place(self, offset: u16) -> *const u8 {
        self.0.address().cast_const().cast::<u8>().wrapping_add(usize::from(offset))
    }

    /// The node's address, which tells it from every other of the tree.
    #[inline]
    #[must_use]
    pub fn address(self) -> *const () {
        self.0.address().cast_const().cast()
    }
}

/// A string of a tree; None for NULL.
///
/// # Safety
/// `raw` is NULL or a string for which the invariant of trees holds during `'a`.
#[inline]
pub(super) unsafe fn text<'a>(raw: *const c_char) -> Option<&'a str> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: the caller's: it ends in NUL.
    let bytes = unsafe { CStr::from_ptr(raw) }.to_bytes();
    debug_assert!(std::str::from_utf8(bytes).is_ok(), "a string of a tree is not UTF-8: {bytes:?}");
    // SAFETY: the caller's: `parse` takes UTF-8 only, and PostgreSQL's lexer makes no other out of it.
    Some(unsafe { std::str::from_utf8_unchecked(bytes) })
}
