//! The nodes of a parse tree: typed views of PostgreSQL's structs, generated from its headers.
//!
//! Each struct of PostgreSQL's `parsenodes.h`, `primnodes.h` and `value.h` has a view of its name, underscores
//! left out ([`SelectStmt`], [`AConst`]), with a getter for each field, in small letters ([`SelectStmt::where_clause`]).
//! PostgreSQL's headers say what fields mean. A view costs a pointer and copies nothing: strings are slices of the
//! tree's memory, lists are its arrays. What C may leave NULL is an `Option`; lists are empty instead.
//!
//! - [`Node`] is a node of any type; [`Node::view`] gives a [`View`] to match on, [`Node::cast`] one type.
//! - Enums are Rust's, with a variant for each constant of C's.

pub use crate::raw::nodes::*;
