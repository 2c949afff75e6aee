//! FROM, WHERE and GROUP BY.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CurrentOfExpr, GroupingSet, GroupingSetKind, List, Node, NodeTag};

impl Deparser<'_> {
    pub(in crate::deparse) fn from_clause(&mut self, tables: List<'_>) -> DeparseResult {
        if tables.is_empty() {
            return Ok(());
        }
        self.group("FROM", Indent::Parts);
        self.from_list(tables)?;
        self.char(' ');
        Ok(())
    }

    pub(in crate::deparse) fn from_list(&mut self, tables: List<'_>) -> DeparseResult {
        self.comma_parts(tables, Self::table_ref)
    }

    pub(in crate::deparse) fn where_clause(&mut self, condition: Option<Node<'_>>) -> DeparseResult {
        let Some(condition) = condition else { return Ok(()) };
        self.group("WHERE", Indent::Parts);
        self.marked(Some(condition), |d| d.expr(Some(condition), Context::AExpr))?;
        self.char(' ');
        Ok(())
    }

    pub(in crate::deparse) fn where_or_current_clause(
        &mut self,
        condition: Option<Node<'_>>,
    ) -> DeparseResult {
        let Some(current) = condition.and_then(|node| node.cast::<CurrentOfExpr<'_>>()) else {
            return self.where_clause(condition);
        };
        self.group("WHERE", Indent::Parts);
        self.marked(condition, |d| {
            d.str("CURRENT OF ");
            d.col_id(current.cursor_name())
        })?;
        self.char(' ');
        Ok(())
    }

    pub(in crate::deparse) fn group_by_list(&mut self, elements: List<'_>) -> DeparseResult {
        self.comma_parts(elements, |d, element| {
            match element.and_then(|node| node.cast::<GroupingSet<'_>>()) {
                Some(set) => d.grouping_set(set),
                None => d.expr(element, Context::AExpr),
            }
        })
    }

    pub(in crate::deparse) fn grouping_set(&mut self, set: GroupingSet<'_>) -> DeparseResult {
        match set.kind() {
            GroupingSetKind::GroupingSetEmpty => self.str("()"),
            GroupingSetKind::GroupingSetRollup => self.grouping_expressions("ROLLUP (", set.content())?,
            GroupingSetKind::GroupingSetCube => self.grouping_expressions("CUBE (", set.content())?,
            GroupingSetKind::GroupingSetSets => {
                self.str("GROUPING SETS (");
                self.deeper(|d| d.group_by_list(set.content()))?;
                self.char(')');
            }
            GroupingSetKind::GroupingSetSimple => {
                return Err(DeparseError::misplaced(NodeTag::GroupingSet, "written SQL"));
            }
        }
        Ok(())
    }

    fn grouping_expressions(&mut self, keyword: &str, expressions: List<'_>) -> DeparseResult {
        self.str(keyword);
        self.expr_list(expressions)?;
        self.char(')');
        Ok(())
    }

    /// The condition of a join or of MERGE: a required expression.
    pub(in crate::deparse) fn on_condition(&mut self, condition: Option<Node<'_>>) -> DeparseResult {
        let condition = required(condition, "a condition")?;
        self.str("ON ");
        self.expr(Some(condition), Context::AExpr)?;
        self.char(' ');
        Ok(())
    }
}
