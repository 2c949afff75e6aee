//! PREPARE, EXECUTE and DEALLOCATE.

use crate::deparse::{DeparseResult, Deparser};
use crate::node::{DeallocateStmt, ExecuteStmt, PrepareStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn prepare_stmt(&mut self, stmt: PrepareStmt<'_>) -> DeparseResult {
        self.str("PREPARE ");
        self.col_id(stmt.name())?;
        if !stmt.argtypes().is_empty() {
            self.char('(');
            self.type_list(stmt.argtypes())?;
            self.char(')');
        }
        self.str(" AS ");
        self.preparable_stmt(stmt.query())
    }

    pub(in crate::deparse) fn execute_stmt(&mut self, stmt: ExecuteStmt<'_>) -> DeparseResult {
        self.str("EXECUTE ");
        self.col_id(stmt.name())?;
        if !stmt.params().is_empty() {
            self.char('(');
            self.expr_list(stmt.params())?;
            self.char(')');
        }
        Ok(())
    }

    pub(in crate::deparse) fn deallocate_stmt(&mut self, stmt: DeallocateStmt<'_>) -> DeparseResult {
        self.str("DEALLOCATE ");
        match stmt.name() {
            Some(name) => self.ident(name),
            None => self.str("ALL"),
        }
        Ok(())
    }
}
