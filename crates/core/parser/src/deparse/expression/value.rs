//! Writes constants, parameters, and keywords that are values.

use crate::deparse::context::Context;
use crate::deparse::need::int_of;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AConst, List, Node, ParamRef, SQLValueFunction, SQLValueFunctionOp, View};

impl Deparser<'_> {
    /// A constant.
    pub(in crate::deparse) fn a_const(&mut self, node: AConst<'_>) -> DeparseResult {
        self.comments(node.location());
        self.value_or_null(node.val(), Context::Constant)
    }

    pub(super) fn value_or_null(&mut self, node: Option<Node<'_>>, context: Context) -> DeparseResult {
        match node {
            Some(node) => self.value(node, context),
            None => {
                self.str("NULL");
                Ok(())
            }
        }
    }

    /// A value node. In the context of a constant, a string is written as a literal, otherwise without quotes.
    pub(in crate::deparse) fn value(&mut self, node: Node<'_>, context: Context) -> DeparseResult {
        match node.view() {
            View::Integer(_) | View::Float(_) => return self.numeric_only(node),
            View::Boolean(value) => self.str(if value.boolval() { "true" } else { "false" }),
            View::String(value) => match context {
                Context::Constant => self.string_literal(value.sval()),
                _ => self.str(value.sval()),
            },
            View::BitString(value) => {
                let mut digits = value.bsval().chars();
                match digits.next() {
                    Some(base @ ('b' | 'x')) => self.char(base),
                    _ => return Err(DeparseError::new("a bit string begins with neither b nor x")),
                }
                // The lexer accepts any characters as digits, even a backslash, so E'...' must not be written here.
                let digits = digits.as_str();
                if digits.contains('\'') {
                    return Err(DeparseError::new("a bit string has a quote"));
                }
                self.char('\'');
                self.str(digits);
                self.char('\'');
            }
            other => return Err(DeparseError::misplaced(other.tag(), "a value")),
        }
        Ok(())
    }

    /// `NumericOnly`.
    pub(in crate::deparse) fn numeric_only(&mut self, node: Node<'_>) -> DeparseResult {
        match node.view() {
            View::Integer(value) => self.int(value.ival()),
            View::Float(value) => self.str(value.fval()),
            other => return Err(DeparseError::misplaced(other.tag(), "a number")),
        }
        Ok(())
    }

    /// `NumericOnly_list`.
    pub(in crate::deparse) fn numeric_only_list(&mut self, list: List<'_>) -> DeparseResult {
        self.separated(list, |deparser, node| {
            deparser.numeric_only(node.ok_or_else(|| DeparseError::missing("a number"))?)
        })
    }

    /// `SignedIconst` and `Iconst`.
    pub(in crate::deparse) fn signed_iconst(&mut self, node: Option<Node<'_>>) -> DeparseResult {
        self.int(int_of(node)?);
        Ok(())
    }

    /// `$1`. Also `$0`, which libpg_query writes as `?`, although its grammar cannot read that.
    pub(in crate::deparse) fn param_ref(&mut self, node: ParamRef<'_>) -> DeparseResult {
        self.char('$');
        self.int(node.number());
        Ok(())
    }

    /// `current_date`, `current_user` and so on.
    pub(in crate::deparse) fn sql_value_function(&mut self, node: SQLValueFunction<'_>) -> DeparseResult {
        use SQLValueFunctionOp as Op;
        self.str(match node.op() {
            Op::SvfopCurrentDate => "current_date",
            Op::SvfopCurrentTime | Op::SvfopCurrentTimeN => "current_time",
            Op::SvfopCurrentTimestamp | Op::SvfopCurrentTimestampN => "current_timestamp",
            Op::SvfopLocaltime | Op::SvfopLocaltimeN => "localtime",
            Op::SvfopLocaltimestamp | Op::SvfopLocaltimestampN => "localtimestamp",
            Op::SvfopCurrentRole => "current_role",
            Op::SvfopCurrentUser => "current_user",
            Op::SvfopUser => "user",
            Op::SvfopSessionUser => "session_user",
            Op::SvfopCurrentCatalog => "current_catalog",
            Op::SvfopCurrentSchema => "current_schema",
        });
        if node.typmod() != -1 {
            self.char('(');
            self.int(node.typmod());
            self.char(')');
        }
        Ok(())
    }
}
