//! Reads fields that the grammar always sets, but that may be missing in an edited tree.

use super::DeparseError;
use crate::node::{Boolean, Integer, List, Node, NodeType};

/// The value of a field, or an error. `place` names the field for the error, with an article.
#[inline]
pub(super) fn required<T>(value: Option<T>, place: &str) -> Result<T, DeparseError> {
    value.ok_or_else(|| DeparseError::missing(place))
}

/// A node that must have the type `T`, such as an element of a list.
#[inline]
pub(super) fn required_node<'a, T: NodeType<'a>>(
    node: Option<Node<'a>>,
    place: &str,
) -> Result<T, DeparseError> {
    let node = required(node, place)?;
    node.cast().ok_or_else(|| DeparseError::misplaced(node.tag(), place))
}

/// A list in a field that may hold any node. `None` is the empty list.
pub(super) fn list_of<'a>(node: Option<Node<'a>>, place: &str) -> Result<List<'a>, DeparseError> {
    let Some(node) = node else { return Ok(List::default()) };
    node.as_list().ok_or_else(|| DeparseError::misplaced(node.tag(), place))
}

/// A node that must be an integer.
pub(super) fn int_of(node: Option<Node<'_>>) -> Result<i32, DeparseError> {
    required_node::<Integer<'_>>(node, "a number").map(Integer::ival)
}

/// A node that must be a Boolean.
pub(super) fn bool_of(node: Option<Node<'_>>) -> Result<bool, DeparseError> {
    required_node::<Boolean<'_>>(node, "a Boolean").map(Boolean::boolval)
}

/// An element of a list that must be long enough. The element itself may be NULL.
#[inline]
pub(super) fn required_element<'a>(
    list: List<'a>,
    place: usize,
    what: &str,
) -> Result<Option<Node<'a>>, DeparseError> {
    required(list.get(place), what)
}
