//! Why a change is not made.

use std::fmt;

use crate::error::ParseError;
use crate::raw::enums::NodeTag;

/// Why a tree was not changed. The tree is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// A string with a NUL, which C's strings cannot hold.
    Nul,
    /// A field that holds nodes of one type only was given another.
    WrongType {
        /// What the field holds.
        expected: NodeTag,
        /// What it was given.
        found: NodeTag,
    },
    /// A tag that no struct of the grammar has.
    NoSuchNode(NodeTag),
    /// A place in a list past its end.
    OutOfRange,
    /// A list of numbers, where one of nodes is changed.
    NotOfNodes,
    /// There is no memory for it.
    OutOfMemory,
    /// Text that was to become a node does not parse.
    Parse(ParseError),
    /// Text that was to become an expression, a statement, an operator, a number or a bit string is something else.
    NotOne(&'static str),
    /// A field that the node does not have, or that holds something else.
    NoSuchField(&'static str),
    /// A name that means something else in the text.
    Taken(Box<str>),
    /// A use of a table that no condition can restrict.
    CannotRestrict(&'static str),
    /// Something is empty that must not be: the operands of AND, the names of a column or function.
    Nothing(&'static str),
    /// A parameter's number: they begin with 1.
    NoParameter(i32),
}

impl fmt::Display for EditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul => out.write_str("a string with a NUL cannot be part of a tree"),
            Self::WrongType { expected, found } => {
                write!(out, "this field holds a {}, and was given a {}", expected.c_name(), found.c_name())
            }
            Self::NoSuchNode(tag) => write!(out, "{} is not a node of the grammar", tag.c_name()),
            Self::OutOfRange => out.write_str("the list has no such place"),
            Self::NotOfNodes => out.write_str("this list holds numbers and not nodes"),
            Self::OutOfMemory => out.write_str("there is no memory for the change"),
            Self::Parse(error) => write!(out, "the text does not parse: {error}"),
            Self::NoSuchField(name) => write!(out, "the node has no field {name} for this value"),
            Self::Taken(name) => write!(out, "a WITH of the text gives the name {name}"),
            Self::CannotRestrict(what) => write!(out, "no condition can restrict {what}"),
            Self::Nothing(what) => write!(out, "{what}: at least one must be there"),
            Self::NoParameter(number) => write!(out, "${number} is no parameter: they are numbered from 1"),
            Self::NotOne(what) => write!(out, "the text is not one {what}"),
        }
    }
}

impl std::error::Error for EditError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Parse(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ParseError> for EditError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}
