//! UPDATE and DELETE.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{DeleteStmt, List, UpdateStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn update_stmt(&mut self, stmt: UpdateStmt<'_>) -> DeparseResult {
        self.enter();
        self.opt_with_clause(stmt.with_clause())?;
        self.group("UPDATE", Indent::Parts);
        self.range_var(required(stmt.relation(), "the table of UPDATE")?, Context::Changed)?;
        self.char(' ');
        self.opt_set_clause(stmt.target_list())?;
        self.from_clause(stmt.from_clause())?;
        self.where_or_current_clause(stmt.where_clause())?;
        self.opt_returning_clause(stmt.returning_clause())
    }

    /// SET and a space, of UPDATE and ON CONFLICT.
    pub(in crate::deparse) fn opt_set_clause(&mut self, targets: List<'_>) -> DeparseResult {
        if targets.is_empty() {
            return Ok(());
        }
        self.group("SET", Indent::Parts);
        self.marked(targets.node(), |d| d.set_clause_list(targets))?;
        self.char(' ');
        Ok(())
    }

    pub(in crate::deparse) fn delete_stmt(&mut self, stmt: DeleteStmt<'_>) -> DeparseResult {
        self.enter();
        self.opt_with_clause(stmt.with_clause())?;
        self.group("DELETE", Indent::Parts);
        self.str("FROM ");
        self.range_var(required(stmt.relation(), "the table of DELETE")?, Context::Changed)?;
        self.char(' ');
        if !stmt.using_clause().is_empty() {
            self.group("USING", Indent::Parts);
            self.from_list(stmt.using_clause())?;
            self.char(' ');
        }
        self.where_or_current_clause(stmt.where_clause())?;
        self.opt_returning_clause(stmt.returning_clause())
    }
}
