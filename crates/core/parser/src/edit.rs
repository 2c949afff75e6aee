//! Changes trees, and makes new nodes for them.
//!
//! [`ParsedSql::statements_mut`] gives access to the statements of a tree, [`ParsedSql::edit_each`] to every place in
//! it. New nodes are [`Fragment`]s. They are made from text ([`expression`], [`statement`]), by the other functions
//! here, or empty ([`Fragment::new`]), to be filled through their typed view. A fragment that is put into a tree
//! belongs to the tree. [`Node::to_fragment`] copies a node.
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

/// The expression in a text: `a + $1`, `lower(name)`, `EXISTS (SELECT ...)`.
///
/// # Errors
/// [`EditError::Parse`] and [`EditError::NotOne`] for a text that is not exactly one expression.
pub fn expression(text: &str) -> Result<Fragment, EditError> {
    // `SELECT ALL a` would be read as the expression `a`.
    let begins_with_all = matches!(Lexer::new(text).next_token(), Ok(Some(token))
        if text.get(token.start as usize..token.end as usize).is_some_and(|word| word.eq_ignore_ascii_case("all")));
    // In parentheses `1, 2` would be a row, so it is parsed without them too. A semicolon cannot be in parentheses.
    crate::parse(&format!("SELECT ({text}\n)"))?;
    let tree = crate::parse(&format!("SELECT {text}"))?;
    Fragment::picked(tree, only_expression)
        .filter(|_| !begins_with_all)
        .ok_or(EditError::NotOne("expression"))
}

/// The only expression of a SELECT that has nothing else.
pub(crate) fn only_expression(tree: &ParsedSql) -> Option<Node<'_>> {
    let statement = only_statement(tree)?.cast::<SelectStmt<'_>>()?;
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

/// The statement in a text.
///
/// # Errors
/// [`EditError::Parse`], and [`EditError::NotOne`] for no statement or several.
pub fn statement(text: &str) -> Result<Fragment, EditError> {
    Fragment::picked(crate::parse(text)?, only_statement).ok_or(EditError::NotOne("statement"))
}

/// The only statement of a text.
pub(crate) fn only_statement(tree: &ParsedSql) -> Option<Node<'_>> {
    let mut statements = tree.root().nodes();
    let statement = statements.next()?.cast::<RawStmt<'_>>()?.stmt();
    statements.next().is_none().then_some(statement)?
}

/// A new node of the type `tag`, filled through its typed view.
fn filled(
    tag: NodeTag,
    fill: impl FnOnce(NodeMut<'_>) -> Option<Result<(), EditError>>,
) -> Result<Fragment, EditError> {
    let mut fragment = Fragment::new(tag)?;
    fill(fragment.node_mut()).unwrap_or(Err(EditError::NoSuchNode(tag)))?;
    Ok(fragment)
}

/// A name as a node, for the lists of names that many nodes have.
///
/// # Errors
/// [`EditError::Nul`] and [`EditError::OutOfMemory`], as for all functions here.
pub fn name(text: &str) -> Result<Fragment, EditError> {
    filled(NodeTag::String, |node| Some(node.cast::<StringNodeMut<'_>>()?.set_sval(text)))
}

fn push_names(mut list: ListMut<'_>, names: &[&str]) -> Result<(), EditError> {
    names.iter().try_for_each(|text| list.push(name(text)?))
}

fn push_all(mut list: ListMut<'_>, nodes: impl IntoIterator<Item = Fragment>) -> Result<(), EditError> {
    nodes.into_iter().try_for_each(|node| list.push(node))
}

/// A column, with its qualifiers before it: `["t", "a"]` is `t.a`.
///
/// # Errors
/// As for [`name`]; [`EditError::Nothing`] if there is no name.
pub fn column(names: &[&str]) -> Result<Fragment, EditError> {
    if names.is_empty() {
        return Err(EditError::Nothing("a column's names"));
    }
    filled(NodeTag::ColumnRef, |node| Some(push_names(node.cast::<ColumnRefMut<'_>>()?.into_fields(), names)))
}

/// A constant.
///
/// # Errors
/// As for [`name`]; [`EditError::NotOne`] for a [`Constant::Float`] that is not a number, and for a
/// [`Constant::BitString`] that is not a bit string.
pub fn constant(value: Constant<'_>) -> Result<Fragment, EditError> {
    filled(NodeTag::AConst, |node| Some(node.cast::<AConstMut<'_>>()?.set_val(value)))
}

/// The parameter `$number`.
///
/// # Errors
/// As for [`name`]; [`EditError::NoParameter`] for numbers below 1.
pub fn parameter(number: i32) -> Result<Fragment, EditError> {
    if number < 1 {
        return Err(EditError::NoParameter(number));
    }
    filled(NodeTag::ParamRef, |node| {
        node.cast::<ParamRefMut<'_>>()?.set_number(number);
        Some(Ok(()))
    })
}

/// `left operator right`, for any operator. `!=` becomes `<>`, as in PostgreSQL.
///
/// # Errors
/// As for [`name`]; [`EditError::NotOne`] for a text that is not an operator, such as the word LIKE or `--`.
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

/// Whether the lexer reads a text as one operator.
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

/// AND or OR. As in a parsed text, `(a AND b) AND c` is one AND of three operands.
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

/// `a AND b AND ...`. With one operand, returns that operand.
///
/// # Errors
/// As for [`name`]; [`EditError::Nothing`] if there is no operand.
pub fn and(operands: impl IntoIterator<Item = Fragment>) -> Result<Fragment, EditError> {
    chain(BoolExprType::AndExpr, operands)
}

/// `a OR b OR ...`. With one operand, returns that operand.
///
/// # Errors
/// As for [`name`]; [`EditError::Nothing`] if there is no operand.
pub fn or(operands: impl IntoIterator<Item = Fragment>) -> Result<Fragment, EditError> {
    chain(BoolExprType::OrExpr, operands)
}

/// `NOT a`
///
/// # Errors
/// As for [`name`].
pub fn not(operand: Fragment) -> Result<Fragment, EditError> {
    boolean(BoolExprType::NotExpr, [operand])
}

/// A call of a function: `["pg_catalog", "now"]`.
///
/// # Errors
/// As for [`name`]; [`EditError::Nothing`] if there is no name.
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

/// A table, perhaps with its schema.
///
/// # Errors
/// As for [`name`].
pub fn table(schema: Option<&str>, name: &str) -> Result<Fragment, EditError> {
    filled(NodeTag::RangeVar, |node| {
        let mut table = node.cast::<RangeVarMut<'_>>()?;
        Some(table.set_schemaname(schema).and_then(|()| table.set_relname(Some(name))))
    })
}

/// An element of the list of SELECT: an expression, and perhaps its name after AS.
///
/// # Errors
/// As for [`name`].
pub fn target(expression: Fragment, name: Option<&str>) -> Result<Fragment, EditError> {
    filled(NodeTag::ResTarget, |node| {
        let mut target = node.cast::<ResTargetMut<'_>>()?;
        Some(target.set_val(Some(expression)).and_then(|()| target.set_name(name)))
    })
}
