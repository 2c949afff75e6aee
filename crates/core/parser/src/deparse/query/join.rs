//! Writes the elements of FROM: tables, joins, subqueries.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{JoinExpr, JoinType, Node, NodeTag, RangeSubselect, View};

impl Deparser<'_> {
    pub(in crate::deparse) fn table_ref(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let view = required(node, "a table")?.view();
        if let View::RangeVar(table) = view {
            return self.range_var(table, Context::None);
        }
        self.deeper(|d| match view {
            View::RangeTableSample(sample) => d.range_table_sample(sample),
            View::RangeFunction(function) => d.range_function(function),
            View::RangeTableFunc(function) => d.range_table_func(function),
            View::RangeSubselect(subselect) => d.range_subselect(subselect),
            View::JoinExpr(join) => d.join_expr(join),
            View::JsonTable(table) => d.json_table(table),
            other => Err(DeparseError::misplaced(other.tag(), "a table")),
        })
    }

    /// A join. The joins on its left side are visited in a loop and not by recursion, because `a JOIN b JOIN c ...`
    /// is as deep as it is long.
    pub(in crate::deparse) fn join_expr(&mut self, join: JoinExpr<'_>) -> DeparseResult {
        let mut joins = vec![join];
        let mut first = required(join.larg(), "the left side of a join")?;
        self.join_begins(join);
        while let Some(join) = first.cast::<JoinExpr<'_>>() {
            joins.push(join);
            first = required(join.larg(), "the left side of a join")?;
            self.join_begins(join);
        }
        self.table_ref(Some(first))?;
        while let Some(join) = joins.pop() {
            self.part();
            self.join_kind(join)?;
            self.join_right(join)?;
            self.trim();
        }
        Ok(())
    }

    fn join_begins(&mut self, join: JoinExpr<'_>) {
        if join.alias().is_some() {
            self.char('(');
        }
    }

    fn join_kind(&mut self, join: JoinExpr<'_>) -> DeparseResult {
        if join.is_natural() {
            self.str("NATURAL ");
        }
        match join.jointype() {
            JoinType::JoinInner => {
                if !join.is_natural() && join.quals().is_none() && join.using_clause().is_empty() {
                    self.str("CROSS ");
                }
            }
            JoinType::JoinLeft => self.str("LEFT "),
            JoinType::JoinFull => self.str("FULL "),
            JoinType::JoinRight => self.str("RIGHT "),
            // Only the planner makes the other types.
            _ => return Err(DeparseError::misplaced(NodeTag::JoinExpr, "a join of its type")),
        }
        self.str("JOIN ");
        Ok(())
    }

    /// The right side, the condition and the alias.
    fn join_right(&mut self, join: JoinExpr<'_>) -> DeparseResult {
        let right = required(join.rarg(), "the right side of a join")?;
        if right.cast::<JoinExpr<'_>>().is_some_and(|join| join.alias().is_none()) {
            self.char('(');
            self.table_ref(Some(right))?;
            self.char(')');
        } else {
            self.table_ref(Some(right))?;
        }
        self.char(' ');
        if join.quals().is_some() {
            self.on_condition(join.quals())?;
        }
        if !join.using_clause().is_empty() {
            self.str("USING (");
            self.name_list(join.using_clause())?;
            self.str(") ");
            if let Some(alias) = join.join_using_alias() {
                self.str("AS ");
                self.col_id(alias.aliasname())?;
            }
        }
        if let Some(alias) = join.alias() {
            self.str(") ");
            self.alias(alias)?;
        }
        Ok(())
    }

    pub(in crate::deparse) fn range_subselect(&mut self, subselect: RangeSubselect<'_>) -> DeparseResult {
        if subselect.lateral() {
            self.str("LATERAL ");
        }
        self.char('(');
        self.select_stmt(required_node(subselect.subquery(), "a subquery in FROM")?, Context::None)?;
        self.char(')');
        if let Some(alias) = subselect.alias() {
            self.char(' ');
            self.alias(alias)?;
        }
        Ok(())
    }
}
