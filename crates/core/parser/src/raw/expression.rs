//! The nodes that PostgreSQL's `raw_expression_tree_walker` goes to from a node, for code that must see neither more
//! nor fewer.

use std::slice;

use pg_query_sys::nodes as sys;

use super::list::{List, ListIter};
use super::node::Node;

/// A field that is followed.
struct Link {
    offset: u16,
    is_list: bool,
}

/// The nodes right below one that are followed, in order. Elements of a list come each for itself.
#[derive(Clone)]
pub(crate) struct Followed<'a> {
    node: Node<'a>,
    links: slice::Iter<'static, Link>,
    cells: ListIter<'a>,
    /// Whether what came last is the element of a list.
    is_element: bool,
}

impl<'a> Node<'a> {
    /// The nodes below that are followed; None if there can be none.
    #[inline]
    pub(crate) fn followed(self) -> Option<Followed<'a>> {
        let links = FOLLOWED.get(self.tag() as usize).copied().unwrap_or_default();
        if !links.is_empty() {
            let cells = ListIter::default();
            return Some(Followed { node: self, links: links.iter(), cells, is_element: false });
        }
        self.as_list().map(|list| Followed::list(self, list))
    }
}

impl<'a> Followed<'a> {
    /// The elements of a list of a node.
    #[inline]
    pub(crate) fn list(node: Node<'a>, list: List<'a>) -> Self {
        Self { node, links: [].iter(), cells: list.iter(), is_element: true }
    }

    /// The node that they are below.
    #[inline]
    pub(crate) fn parent(&self) -> Node<'a> {
        self.node
    }

    /// Whether what came last is the element of a list.
    #[inline]
    pub(crate) fn is_element(&self) -> bool {
        self.is_element
    }
}

impl<'a> Iterator for Followed<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        loop {
            for cell in self.cells.by_ref() {
                if cell.is_some() {
                    return cell;
                }
            }
            let link = self.links.next()?;
            let place = self.node.place(link.offset);
            self.is_element = link.is_list;
            if link.is_list {
                // SAFETY: `build/expression.rs` took offset and kind of this node's field from the headers: a pointer to a
                // list lies there. Invariant of trees.
                self.cells = unsafe { List::from_raw(place.cast::<*const sys::List>().read()) }.iter();
                continue;
            }
            // SAFETY: as above: a pointer to a node lies there.
            let below = unsafe { Node::of(place.cast::<*const sys::Node>().read()) };
            if below.is_some() {
                return below;
            }
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/expression.rs"));
