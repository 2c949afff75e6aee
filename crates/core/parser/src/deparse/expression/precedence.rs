//! Decides which operands need parentheses.

use super::operator::is_written_by_name;
use crate::deparse::context::Context;
use crate::deparse::names::{only_string, system_name};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    AExpr, AExprKind, BoolExprType, CoercionForm, FuncCall, List, Node, SubLinkType, View, XmlExprOp,
};

/// Below this many levels, parentheses that are not needed, and that only libpg_query writes, are left out: the grammar
/// can read about 10,000 nested ones.
const UNNEEDED_DEPTH_MAX: usize = 5_000;

/// The precedence of the rule that writes a node, from the lowest: the order of `%left`, `%right` and `%nonassoc` in
/// PostgreSQL's grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    Or,
    And,
    Not,
    /// IS, not associative.
    Is,
    /// `<`, `=` and so on, not associative.
    Comparison,
    /// BETWEEN, IN, LIKE, ILIKE, SIMILAR, not associative.
    Between,
    /// All operators without their own precedence, and `OPERATOR()`.
    Operator,
    Add,
    Multiply,
    Power,
    /// AT TIME ZONE.
    At,
    Collate,
    /// `+` and `-` as prefix operators.
    Sign,
    /// An expression that no operator can split.
    Atom,
}

/// The side of the operator on which an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The precedence of a binary operator.
fn of_operator(name: List<'_>) -> Precedence {
    match only_string(name) {
        Some("+" | "-") => Precedence::Add,
        Some("*" | "/" | "%") => Precedence::Multiply,
        Some("^") => Precedence::Power,
        Some("<" | ">" | "=" | "<=" | ">=" | "<>" | "!=") => Precedence::Comparison,
        _ => Precedence::Operator,
    }
}

/// The precedence of the operator before ANY or ALL. There `~~` and similar operators are written as LIKE.
pub(super) fn of_subquery_operator(name: List<'_>) -> Precedence {
    match only_string(name) {
        Some("~~" | "!~~" | "~~*" | "!~~*") => Precedence::Between,
        _ => of_operator(name),
    }
}

pub(super) fn of_a_expr(node: AExpr<'_>) -> Precedence {
    match node.kind() {
        AExprKind::AexprOp if node.lexpr().is_none() => match of_operator(node.name()) {
            Precedence::Add if !is_written_by_name(node) => Precedence::Sign,
            _ => Precedence::Operator,
        },
        AExprKind::AexprOp => of_operator(node.name()),
        // The rule itself has the precedence of an operator, but the operator in it may have a lower one.
        AExprKind::AexprOpAny | AExprKind::AexprOpAll => {
            of_subquery_operator(node.name()).min(Precedence::Operator)
        }
        AExprKind::AexprDistinct | AExprKind::AexprNotDistinct => Precedence::Is,
        AExprKind::AexprNullif => Precedence::Atom,
        _ => Precedence::Between,
    }
}

fn of_node(node: Node<'_>) -> Precedence {
    match node.view() {
        View::AExpr(node) => of_a_expr(node),
        View::BoolExpr(node) => match node.boolop() {
            BoolExprType::AndExpr => Precedence::And,
            BoolExprType::OrExpr => Precedence::Or,
            BoolExprType::NotExpr => Precedence::Not,
        },
        View::NullTest(_) | View::BooleanTest(_) | View::JsonIsPredicate(_) => Precedence::Is,
        View::CollateClause(_) => Precedence::Collate,
        View::XmlExpr(node) if node.op() == XmlExprOp::IsDocument => Precedence::Is,
        View::SubLink(node) => match node.sub_link_type() {
            // IN
            SubLinkType::AnySublink if node.oper_name().is_empty() => Precedence::Between,
            SubLinkType::AnySublink | SubLinkType::AllSublink => {
                of_subquery_operator(node.oper_name()).min(Precedence::Operator)
            }
            _ => Precedence::Atom,
        },
        View::FuncCall(node) => match (sql_syntax_name(node), node.args().len()) {
            (Some("timezone"), 1 | 2) => Precedence::At,
            (Some("is_normalized"), _) => Precedence::Is,
            _ => Precedence::Atom,
        },
        _ => Precedence::Atom,
    }
}

/// The name of a built-in function that was called in its own SQL syntax.
pub(super) fn sql_syntax_name(call: FuncCall<'_>) -> Option<&str> {
    if call.funcformat() == CoercionForm::CoerceSqlSyntax { system_name(call.funcname()) } else { None }
}

/// A comparison with many values: ANY, ALL, IN.
fn is_comparison_with_many(node: Node<'_>) -> bool {
    match node.view() {
        View::AExpr(node) => {
            matches!(node.kind(), AExprKind::AexprOpAny | AExprKind::AexprOpAll | AExprKind::AexprIn)
        }
        View::SubLink(node) => {
            matches!(node.sub_link_type(), SubLinkType::AnySublink | SubLinkType::AllSublink)
        }
        _ => false,
    }
}

/// Whether a node is a test such as IS NULL, which ends with a keyword. An operator after it cannot take part of it,
/// whatever its precedence.
fn ends_with_keyword(node: Node<'_>) -> bool {
    matches!(node.view(), View::NullTest(_) | View::BooleanTest(_) | View::JsonIsPredicate(_))
}

/// Whether a WITH UNIQUE after the node would be read as part of the IS JSON at the end of the node.
pub(super) fn takes_with_unique(node: Option<Node<'_>>) -> bool {
    let mut last = node;
    while let Some(node) = last {
        last = match node.view() {
            View::JsonIsPredicate(predicate) => return !predicate.unique_keys(),
            View::BoolExpr(node) => node.args().last(),
            _ => return false,
        };
    }
    false
}

/// Whether a node needs parentheses as an operand of a rule with precedence `parent`.
fn needs_parens(node: Node<'_>, parent: Precedence, side: Side) -> bool {
    let own = of_node(node);
    if own != parent {
        return own < parent;
    }
    match parent {
        // It ends with its own parentheses, so an operator after it cannot take part of it.
        _ if side == Side::Left && is_comparison_with_many(node) => false,
        Precedence::Is | Precedence::Comparison | Precedence::Between => true,
        Precedence::Not | Precedence::Sign => false,
        _ => side == Side::Right,
    }
}

/// Whether `a_expr` has a rule for the node but `b_expr` has none.
pub(super) fn needs_parens_as_b_expr(node: Node<'_>) -> bool {
    match node.view() {
        View::AExpr(node) => !matches!(
            node.kind(),
            AExprKind::AexprOp
                | AExprKind::AexprDistinct
                | AExprKind::AexprNotDistinct
                | AExprKind::AexprNullif
        ),
        View::XmlExpr(_) => false,
        View::SetToDefault(_) => true,
        View::FuncCall(call) if sql_syntax_name(call) == Some("overlaps") && call.args().len() == 4 => true,
        _ => of_node(node) != Precedence::Atom,
    }
}

/// Whether `c_expr` has no rule for the node.
pub(in crate::deparse) fn needs_parens_as_c_expr(node: Node<'_>) -> bool {
    of_node(node) != Precedence::Atom || needs_parens_as_b_expr(node)
}

impl Deparser<'_> {
    /// An operand of a rule of `a_expr` (or of `b_expr`, if the context says so), in parentheses if it needs them.
    pub(super) fn operand(
        &mut self,
        node: Option<Node<'_>>,
        parent: Precedence,
        side: Side,
        context: Context,
    ) -> DeparseResult {
        let Some(node) = node else { return Ok(()) };
        let unneeded = self.depth > UNNEEDED_DEPTH_MAX
            && parent == Precedence::Is
            && side == Side::Left
            && ends_with_keyword(node);
        if (needs_parens(node, parent, side) && !unneeded)
            || (context == Context::BExpr && needs_parens_as_b_expr(node))
        {
            return self.in_parens(node);
        }
        self.expr(Some(node), context)
    }
}
