//! CREATE STATISTICS.

use crate::deparse::context::Context;
use crate::deparse::need::required_node;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{CreateStatsStmt, StatsElem};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_stats_stmt(&mut self, stmt: CreateStatsStmt<'_>) -> DeparseResult {
        self.str(if stmt.if_not_exists() {
            "CREATE STATISTICS IF NOT EXISTS "
        } else {
            "CREATE STATISTICS "
        });
        self.any_name(stmt.defnames())?;
        self.char(' ');
        if !stmt.stat_types().is_empty() {
            self.char('(');
            self.name_list(stmt.stat_types())?;
            self.str(") ");
        }
        self.str("ON ");
        self.separated(stmt.exprs(), |d, element| {
            d.stats_elem(required_node(element, "an element of statistics")?)
        })?;
        self.str(" FROM ");
        self.from_list(stmt.relations())
    }

    pub(in crate::deparse) fn stats_elem(&mut self, element: StatsElem<'_>) -> DeparseResult {
        if let Some(name) = element.name() {
            self.ident(name);
        } else if element.expr().is_some() {
            self.char('(');
            self.expr(element.expr(), Context::AExpr)?;
            self.char(')');
        }
        Ok(())
    }
}
