//! What the grammar always puts into a tree, and an edited tree may lack.

use super::DeparseError;
use crate::node::{Boolean, Integer, List, Node, NodeType};

/// What a field holds; `place` says what it is, with its article.
#[inline]
pub(super) fn given<T>(value: Option<T>, place: &str) -> Result<T, DeparseError> {
    value.ok_or_else(|| DeparseError::missing(place))
}

/// A node of one type, as an element of a list is.
#[inline]
pub(super) fn need<'a, T: NodeType<'a>>(node: Option<Node<'a>>, place: &str) -> Result<T, DeparseError> {
    let node = given(node, place)?;
    node.cast().ok_or_else(|| DeparseError::misplaced(node.tag(), place))
}

/// A list in a field of any node; None is the empty one.
pub(super) fn list_of<'a>(node: Option<Node<'a>>, place: &str) -> Result<List<'a>, DeparseError> {
    let Some(node) = node else { return Ok(List::default()) };
    node.as_list().ok_or_else(|| DeparseError::misplaced(node.tag(), place))
}

/// A whole number.
pub(super) fn int_of(node: Option<Node<'_>>) -> Result<i32, DeparseError> {
    need::<Integer<'_>>(node, "a number").map(Integer::ival)
}

/// A truth value.
pub(super) fn bool_of(node: Option<Node<'_>>) -> Result<bool, DeparseError> {
    need::<Boolean<'_>>(node, "a truth value").map(Boolean::boolval)
}

/// An element that a list must be long enough to have; the element itself may be NULL.
#[inline]
pub(super) fn nth<'a>(list: List<'a>, place: usize, what: &str) -> Result<Option<Node<'a>>, DeparseError> {
    given(list.get(place), what)
}
