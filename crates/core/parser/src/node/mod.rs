//! The nodes of a parse tree: typed views of PostgreSQL's structs, generated from its headers.
//!
//! Each struct of PostgreSQL's `parsenodes.h`, `primnodes.h` and `value.h` has a view with its name, without
//! underscores ([`SelectStmt`], [`AConst`]). A view has a getter for each field, in snake case
//! ([`SelectStmt::where_clause`]). PostgreSQL's headers say what the fields mean. A view is one pointer and copies
//! nothing: strings and lists are slices of the tree's memory. A pointer that may be NULL in C is an `Option`; a NULL
//! list is an empty list.
//!
//! - [`Node`] is a node of any type. [`Node::view`] returns a [`View`] for a match, [`Node::cast`] a view of one type.
//! - Each C enum is a Rust enum with a variant for each constant.

pub use crate::raw::nodes::*;
