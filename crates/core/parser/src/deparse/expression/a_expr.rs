//! Writes operators with their operands.

use super::precedence::{Precedence, Side, of_a_expr, of_subquery_operator};
use crate::deparse::context::Context;
use crate::deparse::names::{only_string, system_name};
use crate::deparse::need::{list_of, required, required_element, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AExpr, AExprKind, FuncCall, Node, SubLink};

/// An operator of IN or a pattern match with its words, and its negation with its words.
struct Words {
    name: &'static str,
    words: &'static str,
    denied: &'static str,
    words_denied: &'static str,
}

const IN: Words = Words { name: "=", words: " IN (", denied: "<>", words_denied: " NOT IN (" };
const LIKE: Words = Words { name: "~~", words: " LIKE ", denied: "!~~", words_denied: " NOT LIKE " };
const ILIKE: Words = Words { name: "~~*", words: " ILIKE ", denied: "!~~*", words_denied: " NOT ILIKE " };
const SIMILAR: Words =
    Words { name: "~", words: " SIMILAR TO ", denied: "!~", words_denied: " NOT SIMILAR TO " };

impl Deparser<'_> {
    /// An operator, or a construct with words that the grammar turns into an operator.
    pub(in crate::deparse) fn a_expr(&mut self, node: AExpr<'_>, context: Context) -> DeparseResult {
        if node.rexpr().is_none() {
            return Err(DeparseError::missing("an operand"));
        }
        match node.kind() {
            AExprKind::AexprOp => self.op(node, context),
            AExprKind::AexprOpAny => self.op_array(node, " ANY(", context),
            AExprKind::AexprOpAll => self.op_array(node, " ALL(", context),
            AExprKind::AexprDistinct => self.both_operands(node, " IS DISTINCT FROM ", context),
            AExprKind::AexprNotDistinct => self.both_operands(node, " IS NOT DISTINCT FROM ", context),
            AExprKind::AexprNullif => {
                self.str("NULLIF(");
                self.expr(node.lexpr(), context)?;
                self.str(", ");
                self.expr(node.rexpr(), context)?;
                self.char(')');
                Ok(())
            }
            AExprKind::AexprIn => self.op_in(node, context),
            AExprKind::AexprLike => self.pattern(node, &LIKE, context),
            AExprKind::AexprIlike => self.pattern(node, &ILIKE, context),
            AExprKind::AexprSimilar => self.similar(node, context),
            AExprKind::AexprBetween
            | AExprKind::AexprNotBetween
            | AExprKind::AexprBetweenSym
            | AExprKind::AexprNotBetweenSym => self.between(node, context),
        }
    }

    fn op(&mut self, node: AExpr<'_>, context: Context) -> DeparseResult {
        let precedence = of_a_expr(node);
        if node.lexpr().is_some() {
            self.operand(node.lexpr(), precedence, Side::Left, context)?;
            self.char(' ');
            self.qual_op(node.name())?;
        } else {
            self.prefix_op(node)?;
        }
        self.char(' ');
        self.operand(node.rexpr(), precedence, Side::Right, context)
    }

    fn op_array(&mut self, node: AExpr<'_>, quantifier: &str, context: Context) -> DeparseResult {
        self.operand(node.lexpr(), of_subquery_operator(node.name()), Side::Left, context)?;
        self.char(' ');
        self.subquery_op(node.name())?;
        self.str(quantifier);
        self.expr(node.rexpr(), Context::AExpr)?;
        self.char(')');
        Ok(())
    }

    fn both_operands(&mut self, node: AExpr<'_>, words: &str, context: Context) -> DeparseResult {
        let precedence = of_a_expr(node);
        self.operand(node.lexpr(), precedence, Side::Left, context)?;
        self.str(words);
        self.operand(node.rexpr(), precedence, Side::Right, context)
    }

    /// The left operand and the operator's words.
    fn left_and_words(&mut self, node: AExpr<'_>, words: &Words, context: Context) -> DeparseResult {
        self.operand(node.lexpr(), Precedence::Between, Side::Left, context)?;
        let name = only_string(node.name());
        let words = match name {
            Some(name) if name == words.name => words.words,
            Some(name) if name == words.denied => words.words_denied,
            _ => {
                return Err(DeparseError::new(
                    "IN, LIKE, ILIKE or SIMILAR has an operator that is not its own",
                ));
            }
        };
        self.str(words);
        Ok(())
    }

    fn op_in(&mut self, node: AExpr<'_>, context: Context) -> DeparseResult {
        self.left_and_words(node, &IN, context)?;
        let values = node.rexpr();
        match values.and_then(Node::cast::<SubLink<'_>>) {
            Some(link) => self.sub_link(link)?,
            None => self.expr_list(list_of(values, "the values of IN")?)?,
        }
        self.char(')');
        Ok(())
    }

    fn pattern(&mut self, node: AExpr<'_>, words: &Words, context: Context) -> DeparseResult {
        self.left_and_words(node, words, context)?;
        self.operand(node.rexpr(), Precedence::Between, Side::Right, context)
    }

    /// SIMILAR TO. The grammar puts the pattern and its escape character into a call.
    fn similar(&mut self, node: AExpr<'_>, context: Context) -> DeparseResult {
        self.left_and_words(node, &SIMILAR, context)?;
        let call: FuncCall<'_> = required_node(node.rexpr(), "the pattern of SIMILAR TO")?;
        if system_name(call.funcname()) != Some("similar_to_escape") {
            return Err(DeparseError::new("the pattern of SIMILAR TO is not a call of similar_to_escape"));
        }
        self.operand(
            required_element(call.args(), 0, "a pattern")?,
            Precedence::Between,
            Side::Right,
            context,
        )?;
        if call.args().len() > 1 {
            self.str(" ESCAPE ");
            self.operand(
                required_element(call.args(), 1, "an escape")?,
                Precedence::Between,
                Side::Right,
                context,
            )?;
        }
        Ok(())
    }

    fn between(&mut self, node: AExpr<'_>, context: Context) -> DeparseResult {
        let bounds = list_of(node.rexpr(), "the bounds of BETWEEN")?;
        self.operand(node.lexpr(), Precedence::Between, Side::Left, context)?;
        self.char(' ');
        self.str(required(only_string(node.name()), "the word BETWEEN")?);
        self.char(' ');
        let low = required_element(bounds, 0, "a bound of BETWEEN")?;
        // An AND in the lower bound would be read as the AND of BETWEEN.
        self.operand(low, Precedence::Between, Side::Right, Context::BExpr)?;
        self.str(" AND ");
        let high = required_element(bounds, 1, "a bound of BETWEEN")?;
        self.operand(high, Precedence::Between, Side::Right, context)
    }
}
