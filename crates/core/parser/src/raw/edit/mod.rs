//! Changing trees, and making new ones.
//!
//! The tree behind a `&mut ParsedSql` or `&mut Fragment` has one writer: a [`NodeMut`], [`ListMut`] or typed view such
//! as [`SelectStmtMut`], which reborrow each other on the way down. A [`Fragment`] owns a node and all below it; set
//! into a tree, it becomes part of it, with its memory. So a node hangs in one place only, trees have no circles, and
//! nothing in a tree points outside of it: the invariant of `raw` holds after each change.
//!
//! What is taken out of a tree leaves its memory there until the tree goes.

mod copy;
mod error;
mod field_mut;
mod fragment;
mod list_mut;
mod memory;
mod node_mut;
mod view_mut;

pub use error::EditError;
pub use field_mut::NewValue;
pub use fragment::Fragment;
pub use list_mut::ListMut;
pub use node_mut::{NodeMut, NodeMutType, SlotMut};
pub use view_mut::*;

use super::tree::ParsedSql;
use memory::Memory;

impl ParsedSql {
    /// The statements, to be changed: each a `RawStmt`.
    ///
    /// ```
    /// use trunkline_parser::edit::{self, RawStmtMut, SelectStmtMut};
    ///
    /// let mut tree = trunkline_parser::parse("SELECT a FROM t")?;
    /// let mut statements = tree.statements_mut();
    /// let statement = statements.get_mut(0).and_then(|node| node.cast::<RawStmtMut<'_>>());
    /// let select = statement.and_then(|statement| statement.into_stmt()).and_then(|node| node.cast::<SelectStmtMut<'_>>());
    /// if let Some(mut select) = select {
    ///     select.set_where_clause(Some(edit::expression("tenant = $1")?))?;
    /// }
    /// assert_eq!(tree.deparse()?, "SELECT a FROM t WHERE tenant = $1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statements_mut(&mut self) -> ListMut<'_> {
        let memory = Memory::of(self.arena_to_edit());
        // SAFETY: the root is the slot of a list of this tree, borrowed for as long as `self`.
        unsafe { ListMut::of(self.root_slot(), memory) }
    }

    /// Calls `change` with the place of every node, from the statements down. What it puts into a place is gone through
    /// next, so a replacement that contains what it replaces is met again: tell them apart.
    ///
    /// ```
    /// use trunkline_parser::edit::RangeVarMut;
    ///
    /// let mut tree = trunkline_parser::parse("SELECT * FROM a JOIN b USING (c)")?;
    /// tree.edit_each(|mut slot| {
    ///     if let Some(mut table) = slot.node_mut().cast::<RangeVarMut<'_>>() {
    ///         table.set_schemaname(Some("tenant_7"))?;
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(tree.deparse()?, "SELECT * FROM tenant_7.a JOIN tenant_7.b USING (c)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The first error of `change`; what was changed before it stays.
    pub fn edit_each(
        &mut self,
        change: impl FnMut(SlotMut<'_>) -> Result<(), EditError>,
    ) -> Result<(), EditError> {
        let memory = Memory::of(self.arena_to_edit());
        // SAFETY: as in `statements_mut`.
        unsafe { node_mut::each_below_list(self.root_slot(), memory, change) }
    }
}
