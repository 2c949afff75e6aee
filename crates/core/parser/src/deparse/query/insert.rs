//! INSERT.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{InferClause, InsertStmt, NodeTag, OnConflictAction, OnConflictClause, OverridingKind};

impl Deparser<'_> {
    pub(in crate::deparse) fn insert_stmt(&mut self, stmt: InsertStmt<'_>) -> DeparseResult {
        self.enter();
        self.opt_with_clause(stmt.with_clause())?;
        self.group("INSERT INTO", Indent::Parts);
        self.range_var(required(stmt.relation(), "the table of INSERT")?, Context::InsertRelation)?;
        self.char(' ');
        if !stmt.cols().is_empty() {
            self.char('(');
            self.marked(stmt.cols().node(), |d| d.insert_column_list(stmt.cols()))?;
            self.str(") ");
        }
        self.insert_override(stmt.r#override())?;
        match stmt.select_stmt() {
            Some(query) => {
                self.select_stmt(required_node(Some(query), "the query of INSERT")?, Context::InsertSelect)?;
                self.char(' ');
            }
            None => self.str("DEFAULT VALUES "),
        }
        if let Some(clause) = stmt.on_conflict_clause() {
            self.on_conflict_clause(clause)?;
            self.char(' ');
        }
        self.opt_returning_clause(stmt.returning_clause())
    }

    pub(in crate::deparse) fn insert_override(&mut self, overriding: OverridingKind) -> DeparseResult {
        match overriding {
            OverridingKind::OverridingNotSet => {}
            OverridingKind::OverridingUserValue => self.str("OVERRIDING USER VALUE "),
            OverridingKind::OverridingSystemValue => self.str("OVERRIDING SYSTEM VALUE "),
        }
        Ok(())
    }

    pub(in crate::deparse) fn on_conflict_clause(&mut self, clause: OnConflictClause<'_>) -> DeparseResult {
        self.group("ON CONFLICT", Indent::Parts);
        if let Some(infer) = clause.infer() {
            self.infer_clause(infer)?;
            self.char(' ');
        }
        match clause.action() {
            OnConflictAction::OnconflictNothing => self.str("DO NOTHING "),
            OnConflictAction::OnconflictUpdate => self.str("DO UPDATE "),
            OnConflictAction::OnconflictNone => {
                return Err(DeparseError::misplaced(
                    NodeTag::OnConflictClause,
                    "a conflict without an action",
                ));
            }
        }
        self.opt_set_clause(clause.target_list())?;
        self.where_clause(clause.where_clause())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn infer_clause(&mut self, infer: InferClause<'_>) -> DeparseResult {
        if !infer.index_elems().is_empty() {
            self.char('(');
            self.separated(infer.index_elems(), |d, element| {
                d.index_elem(required_node(element, "a column of ON CONFLICT")?)
            })?;
            self.str(") ");
        }
        if let Some(name) = infer.conname() {
            self.keyword_name("ON CONSTRAINT", name);
        }
        self.where_clause(infer.where_clause())?;
        self.trim();
        Ok(())
    }
}
