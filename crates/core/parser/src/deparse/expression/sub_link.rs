//! Subqueries in expressions.

use super::precedence::{Precedence, Side, of_subquery_operator};
use crate::deparse::context::Context;
use crate::deparse::need::required_node;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{SubLink, SubLinkType};

impl Deparser<'_> {
    /// A subquery as a value, an array, or after EXISTS, IN, ANY, ALL.
    pub(in crate::deparse) fn sub_link(&mut self, node: SubLink<'_>) -> DeparseResult {
        match node.sub_link_type() {
            SubLinkType::ExistsSublink => self.str("EXISTS ("),
            SubLinkType::ArraySublink => self.str("ARRAY("),
            SubLinkType::ExprSublink => self.char('('),
            SubLinkType::AllSublink => self.compared(node, " ALL (")?,
            SubLinkType::AnySublink if node.oper_name().is_empty() => {
                self.operand(node.testexpr(), Precedence::Between, Side::Left, Context::AExpr)?;
                self.str(" IN (");
            }
            SubLinkType::AnySublink => self.compared(node, " ANY (")?,
            SubLinkType::RowcompareSublink | SubLinkType::MultiexprSublink | SubLinkType::CteSublink => {
                return Err(DeparseError::new("a subquery is of a kind that only planned queries have"));
            }
        }
        self.select_stmt(required_node(node.subselect(), "a subquery")?, Context::None)?;
        self.char(')');
        Ok(())
    }

    fn compared(&mut self, node: SubLink<'_>, quantifier: &str) -> DeparseResult {
        // For the left operand the precedence of the operator counts, not the precedence of the whole expression.
        let operator = of_subquery_operator(node.oper_name());
        self.operand(node.testexpr(), operator, Side::Left, Context::AExpr)?;
        self.char(' ');
        self.subquery_op(node.oper_name())?;
        self.str(quantifier);
        Ok(())
    }
}
