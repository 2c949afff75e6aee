//! The owner of a parse tree.

use std::ptr::NonNull;

use pg_query_sys::nodes as sys;

use super::call::{self, Arena};
use super::list::List;
use crate::error::ParseError;
use crate::options::ParseOptions;

/// PostgreSQL's parse tree of a text, as C built it, and the memory that it lies in. Dropping it frees all of it at once,
/// on any thread.
///
/// The views that its methods hand out borrow it, and cost a pointer each. They say where in the text things stand in
/// bytes; the text itself is not kept.
pub struct ParsedSql {
    root: Option<NonNull<sys::List>>,
    arena: Arena,
}

// SAFETY: nothing changes a tree behind a shared reference, and its memory is of no thread (`Arena`).
unsafe impl Send for ParsedSql {}
// SAFETY: as above.
unsafe impl Sync for ParsedSql {}

impl ParsedSql {
    /// The statements, each a `RawStmt`; in other modes than [`Mode::Statements`](crate::Mode) the one node of the text.
    pub fn root(&self) -> List<'_> {
        // SAFETY: the list lies in the arena, which lives as long as the borrow of `self`, and is well-formed (module docs).
        unsafe { List::from_raw(self.root.map_or(std::ptr::null(), |root| root.as_ptr().cast_const())) }
    }

    /// How much memory the tree holds, in bytes.
    pub fn bytes(&self) -> usize {
        self.arena.bytes()
    }
}

pub(crate) fn parse(text: &str, options: ParseOptions) -> Result<ParsedSql, ParseError> {
    let made = call::parse(text, options)?;
    Ok(ParsedSql { root: NonNull::new(made.result.statements), arena: made.arena })
}
