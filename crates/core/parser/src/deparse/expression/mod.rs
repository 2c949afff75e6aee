//! Writes expressions: constants, columns, operators, calls, types.

mod a_expr;
mod call;
mod column;
mod condition;
mod constructor;
mod json;
mod json_table;
mod operator;
mod precedence;
mod range_function;
mod sql_call;
mod sub_link;
mod type_cast;
mod type_name;
mod value;
mod window;
mod xml;

use super::context::Context;
use super::need::required;
use super::{DeparseError, DeparseResult, Deparser};
use crate::node::{List, NamedArgExpr, Node, TypeCast, View};
use precedence::needs_parens_as_b_expr;
pub(super) use precedence::needs_parens_as_c_expr;

impl Deparser<'_> {
    /// `a_expr`. Writes nothing if there is no node. With [`Context::BExpr`], operands of operators are written as
    /// `b_expr`.
    pub(super) fn expr(&mut self, node: Option<Node<'_>>, context: Context) -> DeparseResult {
        let Some(node) = node else { return Ok(()) };
        match node.view() {
            // Leaves do not recurse, so they do not count as a level.
            View::ColumnRef(column) => self.column_ref(column),
            View::AConst(constant) => self.a_const(constant),
            View::ParamRef(parameter) => self.param_ref(parameter),
            view => self.deeper(|deparser| deparser.branch(view, context)),
        }
    }

    /// An expression that contains expressions.
    fn branch(&mut self, view: View<'_>, context: Context) -> DeparseResult {
        match view {
            View::AIndirection(node) => self.a_indirection(node),
            View::CaseExpr(node) => self.case_expr(node),
            View::AArrayExpr(node) => self.a_array_expr(node),
            View::RowExpr(node) => self.row_expr(node),
            View::GroupingFunc(node) => self.grouping_func(node),
            View::SubLink(node) => self.sub_link(node),
            View::TypeCast(node) => self.type_cast(node, Context::None),
            View::CollateClause(node) => self.collate_clause(node),
            View::AExpr(node) => {
                self.a_expr(node, if context == Context::BExpr { Context::BExpr } else { Context::AExpr })
            }
            View::BoolExpr(node) => self.bool_expr(node),
            View::NullTest(node) => self.null_test(node),
            View::BooleanTest(node) => self.boolean_test(node),
            View::JsonIsPredicate(node) => self.json_is_predicate(node),
            View::SetToDefault(node) => self.set_to_default(node),
            View::MergeSupportFunc(_) => {
                self.str("merge_action() ");
                Ok(())
            }
            View::JsonParseExpr(node) => self.json_parse_expr(node),
            View::JsonScalarExpr(node) => self.json_scalar_expr(node),
            View::JsonSerializeExpr(node) => self.json_serialize_expr(node),
            View::JsonFuncExpr(node) => self.json_func_expr(node),
            view => self.call(view, context),
        }
    }

    /// `func_expr`.
    fn call(&mut self, view: View<'_>, context: Context) -> DeparseResult {
        match view {
            View::FuncCall(node) => self.func_call(node),
            View::SQLValueFunction(node) => self.sql_value_function(node),
            View::MinMaxExpr(node) => self.min_max_expr(node),
            View::CoalesceExpr(node) => self.coalesce_expr(node),
            View::XmlExpr(node) => self.xml_expr(node, context),
            View::XmlSerialize(node) => self.xml_serialize(node),
            View::JsonObjectAgg(node) => self.json_object_agg(node),
            View::JsonArrayAgg(node) => self.json_array_agg(node),
            View::JsonObjectConstructor(node) => self.json_object_constructor(node),
            View::JsonArrayConstructor(node) => self.json_array_constructor(node),
            View::JsonArrayQueryConstructor(node) => self.json_array_query_constructor(node),
            other => Err(DeparseError::misplaced(other.tag(), "an expression")),
        }
    }

    /// `func_expr_windowless`: a function in FROM or as the key of an index.
    pub(super) fn func_expr_windowless(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let node = required(node, "a function call")?;
        match node.cast::<TypeCast<'_>>() {
            Some(cast) => self.deeper(|deparser| deparser.type_cast(cast, Context::FuncExpr)),
            // libpg_query writes nothing for some of these: NULLIF, and the constructors and functions of JSON.
            None => self.expr(Some(node), Context::None),
        }
    }

    /// `b_expr`, for places where AND, IN or IS would be ambiguous. Other expressions get parentheses.
    pub(super) fn b_expr(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let node = required(node, "an expression")?;
        if needs_parens_as_b_expr(node) {
            return self.in_parens(node);
        }
        self.expr(Some(node), Context::BExpr)
    }

    /// `c_expr`, which no operator around it can split. Other expressions get parentheses.
    pub(super) fn c_expr(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let node = required(node, "an expression")?;
        if needs_parens_as_c_expr(node) || !is_c_expr(node) {
            return self.in_parens(node);
        }
        self.expr(Some(node), Context::None)
    }

    fn in_parens(&mut self, node: Node<'_>) -> DeparseResult {
        self.char('(');
        self.expr(Some(node), Context::AExpr)?;
        self.char(')');
        Ok(())
    }

    /// `AexprConst`. If it has a type, the type is written before the literal.
    pub(super) fn aexpr_const(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let node = required(node, "a constant")?;
        match node.view() {
            View::AConst(_) => self.expr(Some(node), Context::None),
            View::TypeCast(cast) => self.literal_with_type(cast),
            other => Err(DeparseError::misplaced(other.tag(), "a constant")),
        }
    }

    /// `expr_list`.
    pub(super) fn expr_list(&mut self, list: List<'_>) -> DeparseResult {
        self.separated(list, |deparser, node| deparser.expr(node, Context::AExpr))
    }

    /// `func_arg_expr`: an argument, with or without a name.
    pub(super) fn func_arg_expr(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        let node = required(node, "an argument")?;
        let Some(named) = node.cast::<NamedArgExpr<'_>>() else {
            return self.expr(Some(node), Context::AExpr);
        };
        self.type_function_name(required(named.name(), "an argument's name")?);
        self.str(" := ");
        self.expr(named.arg(), Context::AExpr)
    }
}

/// Whether a rule of `c_expr` writes the node, as far as the node's type shows.
fn is_c_expr(node: Node<'_>) -> bool {
    matches!(
        node.view(),
        View::ColumnRef(_)
            | View::AConst(_)
            | View::ParamRef(_)
            | View::AIndirection(_)
            | View::CaseExpr(_)
            | View::SubLink(_)
            | View::AArrayExpr(_)
            | View::RowExpr(_)
            | View::GroupingFunc(_)
            | View::FuncCall(_)
            | View::SQLValueFunction(_)
            | View::MinMaxExpr(_)
            | View::CoalesceExpr(_)
            | View::XmlExpr(_)
            | View::XmlSerialize(_)
            | View::JsonObjectAgg(_)
            | View::JsonArrayAgg(_)
            | View::JsonObjectConstructor(_)
            | View::JsonArrayConstructor(_)
            | View::JsonArrayQueryConstructor(_)
    )
}
