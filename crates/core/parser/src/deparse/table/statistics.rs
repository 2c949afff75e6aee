//! CREATE STATISTICS.

use crate::deparse::context::Context;
use crate::deparse::need::need;
use crate::deparse::{Deparser, Done};
use crate::node::{CreateStatsStmt, StatsElem};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_stats_stmt(&mut self, stmt: CreateStatsStmt<'_>) -> Done {
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
        self.separated(stmt.exprs(), |d, element| d.stats_elem(need(element, "an element of statistics")?))?;
        self.str(" FROM ");
        self.from_list(stmt.relations())
    }

    pub(in crate::deparse) fn stats_elem(&mut self, element: StatsElem<'_>) -> Done {
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
