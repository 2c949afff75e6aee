//! What cannot be written as SQL.

use std::fmt;

use crate::equal::Difference;
use crate::error::ParseError;
use crate::node::NodeTag;

/// Why a tree has no text: it is not of a form that the grammar makes, as an edited tree may be, or it is too deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeparseError {
    message: String,
}

impl DeparseError {
    /// A tree with something that has no place in SQL there.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// A node where none of its kind can be.
    pub(super) fn misplaced(tag: NodeTag, place: &str) -> Self {
        Self::new(format!("a {tag:?} cannot stand as {place}"))
    }

    /// The text that would be written does not parse.
    pub(super) fn not_sql(error: &ParseError) -> Self {
        Self::new(format!("the grammar refuses the text that would be written: {error}"))
    }

    /// The text that would be written is another tree's.
    pub(super) fn read_otherwise(difference: Difference) -> Self {
        Self::new(format!("the text that would be written is read as {difference}"))
    }

    /// No node, or an empty list, where there must be one.
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
