//! The owner of a parse tree.

use pg_query_sys::nodes as sys;

use super::call::{self, Arena};
use super::list::List;
use crate::error::ParseError;
use crate::options::ParseOptions;
use crate::tame::{Tamed, tame};

/// PostgreSQL's parse tree of a text, as C built it, and the memory that it lies in. Dropping it frees all of it at
/// once, on any thread.
///
/// The views that its methods hand out borrow it, and cost a pointer each. They say where in the text things stand in
/// bytes; the text itself is not kept.
pub struct ParsedSql {
    root: *mut sys::List,
    arena: Arena,
    /// Whether it may no longer be what the grammar made.
    is_edited: bool,
}

// SAFETY: nothing changes a tree behind a shared reference, and its memory is of no thread (`Arena`).
unsafe impl Send for ParsedSql {}
// SAFETY: as above.
unsafe impl Sync for ParsedSql {}

impl ParsedSql {
    /// The statements, each a `RawStmt`; in other modes than [`Mode::Statements`](crate::Mode) the one node of the
    /// text.
    pub fn root(&self) -> List<'_> {
        // SAFETY: the list lies in the arena, which lives as long as the borrow of `self`, and is well-formed (module docs).
        unsafe { List::from_raw(self.root) }
    }

    /// Its memory, for code that changes it.
    pub(super) fn arena_to_edit(&mut self) -> &mut Arena {
        self.is_edited = true;
        &mut self.arena
    }

    /// Whether it was borrowed to be changed: it may be a tree that the grammar does not make.
    pub(crate) fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// Where the root's address is kept.
    pub(super) fn root_slot(&mut self) -> *mut *mut sys::List {
        &raw mut self.root
    }

    /// The list of statements, and what it lies in.
    pub(super) fn into_parts(self) -> (*mut sys::List, Arena) {
        (self.root, self.arena)
    }

    /// How much memory the tree holds, in bytes.
    pub fn bytes(&self) -> usize {
        self.arena.bytes()
    }
}

pub(crate) fn parse(text: &str, options: ParseOptions) -> Result<ParsedSql, ParseError> {
    let made = match tame(text, options)? {
        Tamed::AsItIs => call::parse(text, options)?,
        Tamed::Instead(other) => call::parse(&other, options)?,
        Tamed::Until(other, end, then) => {
            let before = other.as_deref().unwrap_or(text).get(..end).unwrap_or_default();
            return Err(match call::parse(before, options) {
                Err(error) if error.position().is_some_and(|position| position < end) => error,
                _ => ParseError::from_lexer(&then, text),
            });
        }
    };
    Ok(ParsedSql { root: made.result.statements, arena: made.arena, is_edited: false })
}
