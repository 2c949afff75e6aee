//! The only module with `unsafe`: calls of PostgreSQL's C, and reading of the trees that it built.
//!
//! What every `unsafe` block here relies on, the *invariant*: a pointer in a tree is null, or points to a node of the
//! type that its field states (or, for `Node *`, to a node whose first four bytes are its tag), to a list, or to a
//! NUL-terminated string of UTF-8, which lies in the arena of the same tree. The arena lives as long as the
//! [`ParsedSql`] that owns it, nothing in it moves, and nothing in it changes while a view borrows the tree.
#![allow(unsafe_code)]

mod bitmapset;
mod call;
pub(crate) mod edit;
mod enums;
mod expression;
mod fields;
mod list;
mod node;
mod plpgsql;
mod pointer;
mod scan;
mod slots;
mod tree;
mod view;

/// PostgreSQL's version, as its C code numbers it: 180006 is 18.6.
pub(crate) const VERSION: i32 = pg_query_sys::nodes::PG_VERSION_NUM;

pub(crate) use expression::Followed;
pub use list::List;
pub(crate) use plpgsql::plpgsql;
pub(crate) use scan::scan;
pub use tree::ParsedSql;
pub(crate) use tree::parse;

/// What `node/` makes public.
pub(crate) mod nodes {
    pub use super::bitmapset::Bitmapset;
    pub use super::enums::*;
    pub use super::fields::{Child, Children, FieldInfo, FieldKind, Fields, Value};
    pub use super::list::{List, ListIter};
    pub use super::node::{Node, NodeType};
    pub use super::view::*;
}
