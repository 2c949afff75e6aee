//! Writes the new table of CREATE TABLE AS and SELECT INTO.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{IntoClause, OnCommitAction};

impl Deparser<'_> {
    pub(in crate::deparse) fn into_clause(&mut self, into: IntoClause<'_>) -> DeparseResult {
        self.range_var(required(into.rel(), "the table of INTO")?, Context::None)?;
        if !into.col_names().is_empty() {
            self.char('(');
            self.column_list(into.col_names())?;
            self.char(')');
        }
        self.char(' ');
        if let Some(method) = into.access_method() {
            self.keyword_name("USING", method);
        }
        self.opt_with(into.options())?;
        self.on_commit(into.on_commit());
        if let Some(tablespace) = into.table_space_name() {
            self.keyword_name("TABLESPACE", tablespace);
        }
        self.trim();
        Ok(())
    }

    /// ON COMMIT and a space, if it is not the default.
    pub(in crate::deparse) fn on_commit(&mut self, action: OnCommitAction) {
        match action {
            OnCommitAction::OncommitNoop => {}
            OnCommitAction::OncommitPreserveRows => self.str("ON COMMIT PRESERVE ROWS "),
            OnCommitAction::OncommitDeleteRows => self.str("ON COMMIT DELETE ROWS "),
            OnCommitAction::OncommitDrop => self.str("ON COMMIT DROP "),
        }
    }
}
