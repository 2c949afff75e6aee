//! DROP.

use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{DefElem, DropStmt, DropTableSpaceStmt, DropdbStmt};

use super::definition::option_name;

impl Deparser<'_> {
    pub(in crate::deparse) fn drop_stmt(&mut self, stmt: DropStmt<'_>) -> DeparseResult {
        let kind = stmt.remove_type();
        self.str("DROP ");
        self.object_kind(kind)?;
        if stmt.concurrent() {
            self.str("CONCURRENTLY ");
        }
        if stmt.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.separated(stmt.objects(), |d, object| d.object(kind, object))?;
        self.char(' ');
        self.opt_drop_behavior(stmt.behavior())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn drop_table_space_stmt(
        &mut self,
        stmt: DropTableSpaceStmt<'_>,
    ) -> DeparseResult {
        self.str("DROP TABLESPACE ");
        if stmt.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.column_name(required(stmt.tablespacename(), "a tablespace")?);
        Ok(())
    }

    pub(in crate::deparse) fn dropdb_stmt(&mut self, stmt: DropdbStmt<'_>) -> DeparseResult {
        self.str("DROP DATABASE ");
        if stmt.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.col_id(stmt.dbname())?;
        if stmt.options().is_empty() {
            return Ok(());
        }
        self.str(" (");
        self.separated(stmt.options(), |d, option| {
            match option_name(required_node::<DefElem<'_>>(option, "an option")?) {
                "force" => d.str("FORCE"),
                other => return Err(DeparseError::new(format!("DROP DATABASE has no option {other:?}"))),
            }
            Ok(())
        })?;
        self.char(')');
        Ok(())
    }
}
