//! Changing trees, and making nodes to hang into them.
//!
//! [`ParsedSql::statements_mut`] leads into a tree, [`ParsedSql::edit_each`] to every place in it. New nodes are
//! [`Fragment`]s: from text ([`expression`], [`statement`]), from the functions here, or empty ([`Fragment::new`]) and
//! then filled by their typed view. A fragment that is set into a tree belongs to it from then on; a copy of a node is made
//! by [`Node::to_fragment`].
//!
//! ```
//! use trunkline_parser::edit::{self, Constant};
//!
//! let sum = edit::operator("+", edit::column(&["a"])?, edit::constant(Constant::Integer(1))?)?;
//! let call = edit::function(&["abs"], [sum, edit::parameter(2)?])?;
//! assert_eq!(call.node().deparse()?, "abs(a + 1, $2)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod condition;
mod rename;
mod tables;

pub use crate::raw::edit::*;
pub use rename::RelationName;
pub use tables::TableMut;

use crate::lexer::{Lexer, TokenKind};
use crate::node::{AExprKind, BoolExpr, BoolExprType, Node, NodeTag, RawStmt, ResTarget, SelectStmt, Value};
use crate::raw::ParsedSql;

/// The expression that a text is: `a + $1`, `lower(name)`, `EXISTS (SELECT ...)`.
///
/// # Errors
/// [`EditError::Parse`] and [`EditError::NotOne`]: for text that is no expression, or more than one.
pub fn expression(text: &str) -> Result<Fragment, EditError> {
    // `SELECT ALL a` would be taken for `a`.
    let begins_with_all = matches!(Lexer::new(text).next_token(), Ok(Some(token))
        if text.get(token.start as usize..token.end as usize).is_some_and(|word| word.eq_ignore_ascii_case("all")));
    // In parentheses, `1, 2` would be a row; a semicolon cannot stand in them.
    crate::parse(&format!("SELECT ({text}\n)"))?;
    let tree = crate::parse(&format!("SELECT {text}"))?;
    Fragment::picked(tree, only_expression)
        .filter(|_| !begins_with_all)
        .ok_or(EditError::NotOne("expression"))
}

/// The one value of a SELECT that consists of nothing else.
pub(crate) fn only_expression(tree: &ParsedSql) -> Option<Node<'_>> {
    let statement = only(tree)?.cast::<SelectStmt<'_>>()?;
    let has_more = statement.node().fields().any(|(field, value)| match value {
        Value::Node(node) | Value::View(node) => node.is_some(),
        Value::List(list) => field.name() != "targetList" && !list.is_empty(),
        _ => false,
    });
    let mut targets = statement.target_list().nodes();
    let target = targets.next()?.cast::<ResTarget<'_>>()?;
    let is_only = !has_more && targets.next().is_none() && target.name().is_none();
    target.val().filter(|_| is_only)
}

/// The statement that a text is.
///
/// # Errors
/// [`EditError::Parse`], and [`EditError::NotOne`] for none or several.
pub fn statement(text: &str) -> Result<Fragment, EditError> {
    Fragment::picked(crate::parse(text)?, only).ok_or(EditError::NotOne("statement"))
}

/// The one statement of a text.
pub(crate) fn only(tree: &ParsedSql) -> Option<Node<'_>> {
    let mut statements = tree.root().nodes();
    let statement = statements.next()?.cast::<RawStmt<'_>>()?.stmt();
    statements.next().is_none().then_some(statement)?
}

/// A node of a tag, filled by its typed view.
fn filled(
    tag: NodeTag,
    fill: impl FnOnce(NodeMut<'_>) -> Option<Result<(), EditError>>,
) -> Result<Fragment, EditError> {
    let mut fragment = Fragment::new(tag)?;
    fill(fragment.node_mut()).unwrap_or(Err(EditError::NoSuchNode(tag)))?;
    Ok(fragment)
}

/// A name as a node: an element of the lists of names that many nodes have.
///
/// # Errors
/// [`EditError::Nul`], [`EditError::OutOfMemory`], as of all functions here.
pub fn name(text: &str) -> Result<Fragment, EditError> {
    filled(NodeTag::String, |node| Some(node.cast::<StringNodeMut<'_>>()?.set_sval(text)))
}

fn push_names(mut list: ListMut<'_>, names: &[&str]) -> Result<(), EditError> {
    names.iter().try_for_each(|text| list.push(name(text)?))
}

fn push_all(mut list: ListMut<'_>, nodes: impl IntoIterator<Item = Fragment>) -> Result<(), EditError> {
    nodes.into_iter().try_for_each(|node| list.push(node))
}

/// A column, with what it is qualified by before it: `["t", "a"]` is `t.a`.
///
/// # Errors
/// As of [`name`]; [`EditError::Nothing`] for no name at all.
pub fn column(names: &[&str]) -> Result<Fragment, EditError> {
    if names.is_empty() {
        return Err(EditError::Nothing("a column's names"));
    }
    filled(NodeTag::ColumnRef, |node| Some(push_names(node.cast::<ColumnRefMut<'_>>()?.into_fields(), names)))
}

/// A constant.
///
/// # Errors
/// As of [`name`]; [`EditError::NotOne`] for a [`Constant::Float`] that is no number, and a [`Constant::BitString`] that is no bit
/// string.
pub fn constant(value: Constant<'_>) -> Result<Fragment, EditError> {
    filled(NodeTag::AConst, |node| Some(node.cast::<AConstMut<'_>>()?.set_val(value)))
}

/// The parameter `$number`.
///
/// # Errors
/// As of [`name`]; [`EditError::NoParameter`] for numbers below 1.
pub fn parameter(number: i32) -> Result<Fragment, EditError> {
    if number < 1 {
        return Err(EditError::NoParameter(number));
    }
    filled(NodeTag::ParamRef, |node| {
        node.cast::<ParamRefMut<'_>>()?.set_number(number);
        Some(Ok(()))
    })
}

/// `left operator right`, for an operator of any name. `!=` is `<>`, as PostgreSQL reads it.
///
/// # Errors
/// As of [`name`]; [`EditError::NotOne`] for what is no operator: a word such as LIKE, or `--`.
pub fn operator(operator: &str, left: Fragment, right: Fragment) -> Result<Fragment, EditError> {
    let operator = if operator == "!=" { "<>" } else { operator };
    if !is_operator(operator) {
        return Err(EditError::NotOne("operator"));
    }
    filled(NodeTag::AExpr, |node| {
        let mut expression = node.cast::<AExprMut<'_>>()?;
        expression.set_kind(AExprKind::AexprOp);
        Some(
            push_names(expression.name_mut(), &[operator])
                .and_then(|()| expression.set_lexpr(Some(left)))
                .and_then(|()| expression.set_rexpr(Some(right))),
        )
    })
}

/// Whether a text is read as one operator.
fn is_operator(text: &str) -> bool {
    let token = Lexer::new(text).next_token().ok().flatten().filter(|token| {
        (token.start, token.end as usize) == (0, text.len())
            && matches!(
                token.kind,
                TokenKind::Operator | TokenKind::NotEquals | TokenKind::LessEquals | TokenKind::GreaterEquals
            )
    });
    token.is_some() || matches!(text, "+" | "-" | "*" | "/" | "%" | "^" | "<" | ">" | "=")
}

/// AND or OR. As in a text, `(a AND b) AND c` is one AND of three.
fn chain(kind: BoolExprType, operands: impl IntoIterator<Item = Fragment>) -> Result<Fragment, EditError> {
    let mut operands = operands.into_iter();
    let mut first = operands.next().ok_or(EditError::Nothing("operands of AND or OR"))?;
    let Some(second) = operands.next() else { return Ok(first) };
    let rest = std::iter::once(second).chain(operands);
    let is_same = first.node().cast::<BoolExpr<'_>>().is_some_and(|inner| inner.boolop() == kind);
    if !is_same {
        return boolean(kind, std::iter::once(first).chain(rest));
    }
    if let Some(mut inner) = first.node_mut().cast::<BoolExprMut<'_>>() {
        push_all(inner.args_mut(), rest)?;
    }
    Ok(first)
}

fn boolean(kind: BoolExprType, operands: impl IntoIterator<Item = Fragment>) -> Result<Fragment, EditError> {
    filled(NodeTag::BoolExpr, |node| {
        let mut expression = node.cast::<BoolExprMut<'_>>()?;
        expression.set_boolop(kind);
        Some(push_all(expression.args_mut(), operands))
    })
}

/// `a AND b AND ...`; of one operand, that itself.
///
/// # Errors
/// As of [`name`]; [`EditError::Nothing`] for no operand.
pub fn and(operands: impl IntoIterator<Item = Fragment>) -> Result<Fragment, EditError> {
    chain(BoolExprType::AndExpr, operands)
}

/// `a OR b OR ...`; of one operand, that itself.
///
/// # Errors
/// As of [`name`]; [`EditError::Nothing`] for no operand.
pub fn or(operands: impl IntoIterator<Item = Fragment>) -> Result<Fragment, EditError> {
    chain(BoolExprType::OrExpr, operands)
}

/// `NOT a`
///
/// # Errors
/// As of [`name`].
pub fn not(operand: Fragment) -> Result<Fragment, EditError> {
    boolean(BoolExprType::NotExpr, [operand])
}

/// A call of a function: `["pg_catalog", "now"]`.
///
/// # Errors
/// As of [`name`]; [`EditError::Nothing`] for no name at all.
pub fn function(
    names: &[&str],
    arguments: impl IntoIterator<Item = Fragment>,
) -> Result<Fragment, EditError> {
    if names.is_empty() {
        return Err(EditError::Nothing("a function's names"));
    }
    filled(NodeTag::FuncCall, |node| {
        let mut call = node.cast::<FuncCallMut<'_>>()?;
        Some(push_names(call.funcname_mut(), names).and_then(|()| push_all(call.args_mut(), arguments)))
    })
}

/// A table, with its schema if it is named.
///
/// # Errors
/// As of [`name`].
pub fn table(schema: Option<&str>, name: &str) -> Result<Fragment, EditError> {
    filled(NodeTag::RangeVar, |node| {
        let mut table = node.cast::<RangeVarMut<'_>>()?;
        Some(table.set_schemaname(schema).and_then(|()| table.set_relname(Some(name))))
    })
}

/// An element of what SELECT gives: an expression, and the name it is given by AS.
///
/// # Errors
/// As of [`name`].
pub fn target(expression: Fragment, name: Option<&str>) -> Result<Fragment, EditError> {
    filled(NodeTag::ResTarget, |node| {
        let mut target = node.cast::<ResTargetMut<'_>>()?;
        Some(target.set_val(Some(expression)).and_then(|()| target.set_name(name)))
    })
}
