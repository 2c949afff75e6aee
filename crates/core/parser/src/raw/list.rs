//! Lists: PostgreSQL's arrays of nodes, of integers or of object ids.

use std::ffi::c_void;
use std::iter::FusedIterator;
use std::slice;

use pg_query_sys::nodes as sys;

use super::enums::NodeTag;
use super::node::Node;
use super::pointer::Pointer;
use super::view::StringNode;

/// A list of a tree: of nodes, of integers or of object ids. C's NULL is the empty list. Costs a pointer.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct List<'a>(Option<Pointer<'a, sys::List>>);

impl<'a> List<'a> {
    /// The list a field points to.
    ///
    /// # Safety
    /// `raw` is NULL or points to a list for which the invariant of trees holds during `'a`.
    #[inline]
    pub(crate) unsafe fn from_raw(raw: *const sys::List) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { Pointer::new(raw) })
    }

    /// The address of its first cell.
    pub(super) fn first_cell(self) -> *const sys::ListCell {
        self.cells().as_ptr()
    }

    /// The list's cells.
    #[inline]
    fn cells(self) -> &'a [sys::ListCell] {
        let Some(list) = self.0.map(Pointer::get) else { return &[] };
        let length = usize::try_from(list.length).unwrap_or(0);
        // SAFETY: invariant of trees: `elements` points to `length` initialized cells, also where that is 0.
        unsafe { slice::from_raw_parts(list.elements, length) }
    }

    /// The cells, if the list is of this kind; C wrote that member of the unions then.
    #[inline]
    fn cells_of(self, tag: NodeTag) -> &'a [sys::ListCell] {
        match self.0 {
            Some(list) if list.get().r#type == tag as u32 => self.cells(),
            _ => &[],
        }
    }
}

impl<'a> List<'a> {
    /// How many elements it has, NULLs included.
    #[inline]
    #[must_use]
    pub fn len(self) -> usize {
        self.cells().len()
    }

    /// Whether it has no element.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.cells().is_empty()
    }

    /// [`NodeTag::List`], also of an empty list; [`NodeTag::IntList`], [`NodeTag::OidList`].
    #[inline]
    #[must_use]
    pub fn tag(self) -> NodeTag {
        self.0.map_or(NodeTag::List, |list| NodeTag::from_raw(list.get().r#type))
    }

    /// The list as a node; None for the empty list, which C has no node for.
    #[inline]
    #[must_use]
    pub fn node(self) -> Option<Node<'a>> {
        self.0.map(Node::of_list)
    }

    /// The element at a place: None past the end, `Some(None)` where C has NULL. A list of nodes only.
    #[inline]
    #[must_use]
    pub fn get(self, place: usize) -> Option<Option<Node<'a>>> {
        self.cells_of(NodeTag::List).get(place).map(node)
    }

    /// The first element that is not NULL.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<Node<'a>> {
        self.nodes().next()
    }

    /// The last element that is not NULL.
    #[inline]
    #[must_use]
    pub fn last(self) -> Option<Node<'a>> {
        self.nodes().next_back()
    }

    /// All elements of a list of nodes, None where C has NULL. Nothing of a list of integers.
    #[inline]
    #[must_use]
    pub fn iter(self) -> ListIter<'a> {
        ListIter { cells: self.cells_of(NodeTag::List).iter() }
    }

    /// The elements that are not NULL.
    #[inline]
    #[must_use]
    pub fn nodes(self) -> impl DoubleEndedIterator<Item = Node<'a>> + Clone + use<'a> {
        self.iter().flatten()
    }

    /// The texts of the elements that are `String`s: the parts of a qualified name.
    #[inline]
    #[must_use]
    pub fn strings(self) -> impl DoubleEndedIterator<Item = &'a str> + Clone + use<'a> {
        self.nodes().filter_map(|node| node.cast::<StringNode<'a>>()).map(StringNode::sval)
    }

    /// The elements of a list of integers. Nothing of other lists.
    #[inline]
    #[must_use]
    pub fn ints(self) -> impl DoubleEndedIterator<Item = i32> + ExactSizeIterator + Clone + use<'a> {
        self.cells_of(NodeTag::IntList).iter().map(int)
    }

    /// The elements of a list of object ids. Nothing of other lists.
    #[inline]
    #[must_use]
    pub fn oids(self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + use<'a> {
        self.cells_of(NodeTag::OidList).iter().map(oid)
    }
}

#[inline]
fn node<'a>(cell: &'a sys::ListCell) -> Option<Node<'a>> {
    // SAFETY: a list of nodes (`cells_of`): C wrote this member, and by the invariant of trees it is NULL or a node.
    unsafe { Node::of(cell.ptr_value.cast::<c_void>().cast_const().cast()) }
}

#[inline]
fn int(cell: &sys::ListCell) -> i32 {
    // SAFETY: a list of integers (`cells_of`): C wrote this member.
    unsafe { cell.int_value }
}

#[inline]
fn oid(cell: &sys::ListCell) -> u32 {
    // SAFETY: a list of object ids (`cells_of`): C wrote this member.
    unsafe { cell.oid_value }
}

/// The elements of a list of nodes, NULLs included.
#[derive(Clone, Default)]
pub struct ListIter<'a> {
    cells: slice::Iter<'a, sys::ListCell>,
}

impl<'a> ListIter<'a> {
    /// The address of the next element, to count elements from.
    #[inline]
    pub(super) fn position(&self) -> *const sys::ListCell {
        self.cells.as_slice().as_ptr()
    }
}

impl<'a> Iterator for ListIter<'a> {
    type Item = Option<Node<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.cells.next().map(node)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.cells.size_hint()
    }
}

impl DoubleEndedIterator for ListIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.cells.next_back().map(node)
    }
}

impl ExactSizeIterator for ListIter<'_> {}
impl FusedIterator for ListIter<'_> {}

impl<'a> IntoIterator for List<'a> {
    type Item = Option<Node<'a>>;
    type IntoIter = ListIter<'a>;

    #[inline]
    fn into_iter(self) -> ListIter<'a> {
        self.iter()
    }
}
