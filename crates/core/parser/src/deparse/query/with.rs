//! WITH.

use crate::deparse::need::required_node;
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{CTECycleClause, CTEMaterialize, CTESearchClause, CommonTableExpr, WithClause};

impl Deparser<'_> {
    /// WITH and a space, if a statement has it.
    pub(in crate::deparse) fn opt_with_clause(&mut self, clause: Option<WithClause<'_>>) -> DeparseResult {
        let Some(clause) = clause else { return Ok(()) };
        self.with_clause(clause)?;
        self.char(' ');
        Ok(())
    }

    pub(in crate::deparse) fn with_clause(&mut self, clause: WithClause<'_>) -> DeparseResult {
        self.group("WITH", Indent::None);
        if clause.recursive() {
            self.str("RECURSIVE ");
        }
        // Every cycle through INSERT, UPDATE, DELETE and MERGE passes here.
        self.deeper(|d| {
            d.separated(clause.ctes(), |d, cte| d.common_table_expr(required_node(cte, "a query of WITH")?))
        })?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn common_table_expr(&mut self, cte: CommonTableExpr<'_>) -> DeparseResult {
        self.comments(cte.location());
        self.col_id(cte.ctename())?;
        if !cte.aliascolnames().is_empty() {
            self.char('(');
            self.name_list(cte.aliascolnames())?;
            self.char(')');
        }
        self.str(match cte.ctematerialized() {
            CTEMaterialize::CTEMaterializeDefault => " AS (",
            CTEMaterialize::CTEMaterializeAlways => " AS MATERIALIZED (",
            CTEMaterialize::CTEMaterializeNever => " AS NOT MATERIALIZED (",
        });
        self.marked(cte.ctequery(), |d| d.preparable_stmt(cte.ctequery()))?;
        self.char(')');
        if let Some(clause) = cte.search_clause() {
            self.cte_search_clause(clause)?;
        }
        if let Some(clause) = cte.cycle_clause() {
            self.cte_cycle_clause(clause)?;
        }
        Ok(())
    }

    pub(in crate::deparse) fn cte_search_clause(&mut self, clause: CTESearchClause<'_>) -> DeparseResult {
        self.str(if clause.search_breadth_first() { " SEARCH BREADTH" } else { " SEARCH DEPTH" });
        self.str(" FIRST BY ");
        self.column_list(clause.search_col_list())?;
        self.str(" SET ");
        self.col_id(clause.search_seq_column())
    }

    pub(in crate::deparse) fn cte_cycle_clause(&mut self, clause: CTECycleClause<'_>) -> DeparseResult {
        self.str(" CYCLE ");
        self.column_list(clause.cycle_col_list())?;
        self.str(" SET ");
        self.col_id(clause.cycle_mark_column())?;
        let values = [(" TO ", clause.cycle_mark_value()), (" DEFAULT ", clause.cycle_mark_default())];
        for (word, value) in values {
            if value.is_some() {
                self.str(word);
                self.aexpr_const(value)?;
            }
        }
        self.str(" USING ");
        self.col_id(clause.cycle_path_column())
    }
}
