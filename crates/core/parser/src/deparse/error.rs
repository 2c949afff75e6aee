//! Errors of deparsing.

use std::fmt;

use crate::equal::Difference;
use crate::error::ParseError;
use crate::node::NodeTag;

/// Why a tree cannot be written as SQL: it is too deep, or it has a form that the grammar never makes, which is
/// possible after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeparseError {
    message: String,
}

impl DeparseError {
    /// Something in the tree is not possible in SQL at this place.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// A node of this type is not possible at this place.
    pub(super) fn misplaced(tag: NodeTag, place: &str) -> Self {
        Self::new(format!("a {tag:?} cannot stand as {place}"))
    }

    /// The text that would be written does not parse.
    pub(super) fn not_sql(error: &ParseError) -> Self {
        Self::new(format!("the grammar refuses the text that would be written: {error}"))
    }

    /// The text that would be written parses to a different tree.
    pub(super) fn different_tree(difference: Difference) -> Self {
        Self::new(format!("the text that would be written is read as {difference}"))
    }

    /// A required node is missing, or a list is empty.
    pub(super) fn missing(place: &str) -> Self {
        Self::new(format!("{place} is missing"))
    }
}

impl fmt::Display for DeparseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "this tree cannot be written as SQL: {}", self.message)
    }
}

impl std::error::Error for DeparseError {}
