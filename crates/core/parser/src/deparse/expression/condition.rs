//! AND, OR, NOT, and tests with IS.

use super::precedence::{Precedence, Side};
use crate::deparse::context::Context;
use crate::deparse::need::{required, required_element};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{BoolExpr, BoolExprType, BoolTestType, BooleanTest, Node, NullTest, NullTestType};

impl Deparser<'_> {
    /// AND, OR or NOT.
    pub(in crate::deparse) fn bool_expr(&mut self, node: BoolExpr<'_>) -> DeparseResult {
        match node.boolop() {
            BoolExprType::AndExpr => {
                for (index, condition) in node.args().iter().enumerate() {
                    if index > 0 {
                        self.part();
                        self.str("AND ");
                    }
                    self.condition(condition)?;
                }
                Ok(())
            }
            BoolExprType::OrExpr => {
                for (index, condition) in node.args().iter().enumerate() {
                    if index > 0 {
                        self.str(" OR ");
                    }
                    self.condition(condition)?;
                }
                Ok(())
            }
            BoolExprType::NotExpr => {
                self.str("NOT ");
                self.condition(required_element(node.args(), 0, "the condition of NOT")?)
            }
        }
    }

    /// An operand of AND, OR or NOT. If it is itself an AND or OR, it gets parentheses.
    fn condition(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let inner = node.and_then(Node::cast::<BoolExpr<'_>>);
        match (node, inner.map(BoolExpr::boolop)) {
            (Some(node), Some(BoolExprType::AndExpr | BoolExprType::OrExpr)) => self.in_parens(node),
            _ => self.expr(node, Context::AExpr),
        }
    }

    /// IS NULL.
    pub(in crate::deparse) fn null_test(&mut self, node: NullTest<'_>) -> DeparseResult {
        self.operand(node.arg(), Precedence::Is, Side::Left, Context::AExpr)?;
        self.str(match node.nulltesttype() {
            NullTestType::IsNull => " IS NULL",
            NullTestType::IsNotNull => " IS NOT NULL",
        });
        Ok(())
    }

    /// IS TRUE, IS FALSE and so on.
    pub(in crate::deparse) fn boolean_test(&mut self, node: BooleanTest<'_>) -> DeparseResult {
        let argument = required(node.arg(), "what is tested by IS TRUE or its like")?;
        self.operand(Some(argument), Precedence::Is, Side::Left, Context::AExpr)?;
        self.str(match node.booltesttype() {
            BoolTestType::IsTrue => " IS TRUE",
            BoolTestType::IsNotTrue => " IS NOT TRUE",
            BoolTestType::IsFalse => " IS FALSE",
            BoolTestType::IsNotFalse => " IS NOT FALSE",
            BoolTestType::IsUnknown => " IS UNKNOWN",
            BoolTestType::IsNotUnknown => " IS NOT UNKNOWN",
        });
        Ok(())
    }
}
