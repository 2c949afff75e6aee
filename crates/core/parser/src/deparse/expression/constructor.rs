//! Writes arrays, rows, CASE, and functions with their own node types.

use crate::deparse::context::Context;
use crate::deparse::need::required_node;
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AArrayExpr, CaseExpr, CaseWhen, CoalesceExpr, CoercionForm, GroupingFunc, List, MinMaxExpr, MinMaxOp,
    RowExpr,
};

impl Deparser<'_> {
    /// `ARRAY[...]`.
    pub(in crate::deparse) fn a_array_expr(&mut self, node: AArrayExpr<'_>) -> DeparseResult {
        self.str("ARRAY[");
        self.expr_list(node.elements())?;
        self.char(']');
        Ok(())
    }

    /// A row, with or without the word ROW.
    pub(in crate::deparse) fn row_expr(&mut self, node: RowExpr<'_>) -> DeparseResult {
        match node.row_format() {
            CoercionForm::CoerceExplicitCall => self.list_call("ROW(", node.args()),
            CoercionForm::CoerceImplicitCast => self.list_call("(", node.args()),
            _ => Err(DeparseError::new("a row must be written either with ROW or with parentheses alone")),
        }
    }

    /// COALESCE.
    pub(in crate::deparse) fn coalesce_expr(&mut self, node: CoalesceExpr<'_>) -> DeparseResult {
        self.list_call("COALESCE(", node.args())
    }

    /// GREATEST, LEAST.
    pub(in crate::deparse) fn min_max_expr(&mut self, node: MinMaxExpr<'_>) -> DeparseResult {
        let function = match node.op() {
            MinMaxOp::IsGreatest => "GREATEST(",
            MinMaxOp::IsLeast => "LEAST(",
        };
        self.list_call(function, node.args())
    }

    /// GROUPING.
    pub(in crate::deparse) fn grouping_func(&mut self, node: GroupingFunc<'_>) -> DeparseResult {
        self.list_call("GROUPING(", node.args())
    }

    /// `function` (which ends with an opening parenthesis), the arguments, and a closing parenthesis.
    fn list_call(&mut self, function: &str, arguments: List<'_>) -> DeparseResult {
        self.str(function);
        self.expr_list(arguments)?;
        self.char(')');
        Ok(())
    }

    /// CASE. It is a level, and each branch is a group.
    pub(in crate::deparse) fn case_expr(&mut self, node: CaseExpr<'_>) -> DeparseResult {
        self.str("CASE ");
        if node.arg().is_some() {
            self.expr(node.arg(), Context::AExpr)?;
            self.char(' ');
        }
        self.enter();
        for when in node.args() {
            self.case_when(required_node(when, "a branch of CASE")?)?;
        }
        if node.defresult().is_some() {
            self.group("ELSE", Indent::Parts);
            self.expr(node.defresult(), Context::AExpr)?;
        }
        self.char(' ');
        self.leave();
        self.str("END");
        Ok(())
    }

    /// WHEN.
    pub(in crate::deparse) fn case_when(&mut self, node: CaseWhen<'_>) -> DeparseResult {
        self.group("WHEN", Indent::Parts);
        self.expr(node.expr(), Context::AExpr)?;
        self.str(" THEN ");
        self.expr(node.result(), Context::AExpr)
    }
}
