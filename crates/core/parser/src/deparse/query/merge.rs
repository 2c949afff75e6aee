//! MERGE.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CmdType, MergeMatchKind, MergeStmt, MergeWhenClause, NodeTag};

impl Deparser<'_> {
    pub(in crate::deparse) fn merge_stmt(&mut self, stmt: MergeStmt<'_>) -> DeparseResult {
        self.enter();
        self.opt_with_clause(stmt.with_clause())?;
        self.group("MERGE", Indent::Parts);
        self.str("INTO ");
        self.range_var(required(stmt.relation(), "the table of MERGE")?, Context::Changed)?;
        self.char(' ');
        self.group("USING", Indent::Parts);
        self.table_ref(stmt.source_relation())?;
        self.char(' ');
        self.on_condition(stmt.join_condition())?;
        for clause in stmt.merge_when_clauses() {
            let clause = required_node::<MergeWhenClause<'_>>(clause, "a WHEN of MERGE")?;
            self.merge_when(clause)?;
            self.merge_action(clause)?;
            self.char(' ');
        }
        self.opt_returning_clause(stmt.returning_clause())
    }

    fn merge_when(&mut self, clause: MergeWhenClause<'_>) -> DeparseResult {
        self.str(match clause.match_kind() {
            MergeMatchKind::MergeWhenMatched => "WHEN MATCHED ",
            MergeMatchKind::MergeWhenNotMatchedBySource => "WHEN NOT MATCHED BY SOURCE ",
            MergeMatchKind::MergeWhenNotMatchedByTarget => "WHEN NOT MATCHED ",
        });
        if let Some(condition) = clause.condition() {
            self.str("AND ");
            self.expr(Some(condition), Context::AExpr)?;
            self.char(' ');
        }
        self.str("THEN ");
        Ok(())
    }

    fn merge_action(&mut self, clause: MergeWhenClause<'_>) -> DeparseResult {
        match clause.command_type() {
            CmdType::CmdInsert => self.merge_insert(clause)?,
            CmdType::CmdUpdate => {
                self.str("UPDATE SET ");
                self.set_clause_list(clause.target_list())?;
            }
            CmdType::CmdDelete => self.str("DELETE"),
            CmdType::CmdNothing => self.str("DO NOTHING"),
            CmdType::CmdUnknown | CmdType::CmdSelect | CmdType::CmdMerge | CmdType::CmdUtility => {
                return Err(DeparseError::misplaced(NodeTag::MergeWhenClause, "an action of MERGE"));
            }
        }
        Ok(())
    }

    fn merge_insert(&mut self, clause: MergeWhenClause<'_>) -> DeparseResult {
        self.str("INSERT ");
        if !clause.target_list().is_empty() {
            self.char('(');
            self.insert_column_list(clause.target_list())?;
            self.str(") ");
        }
        self.insert_override(clause.r#override())?;
        if clause.values().is_empty() {
            self.str("DEFAULT VALUES ");
        } else {
            self.str("VALUES (");
            self.expr_list(clause.values())?;
            self.char(')');
        }
        Ok(())
    }
}
