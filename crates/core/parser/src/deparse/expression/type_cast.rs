//! Writes casts, and literals with the name of their type before them.

use super::precedence::needs_parens_as_c_expr;
use crate::deparse::context::Context;
use crate::deparse::names::{only_string, system_name};
use crate::deparse::need::required;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AConst, Node, NodeTag, StringNode, TypeCast, TypeName, View};

fn is_string(constant: AConst<'_>) -> bool {
    constant.val().is_some_and(|value| value.tag() == NodeTag::String)
}

impl Deparser<'_> {
    /// `x::type`, or `CAST()` at places where only a function is allowed.
    pub(in crate::deparse) fn type_cast(&mut self, node: TypeCast<'_>, context: Context) -> DeparseResult {
        let argument = required(node.arg(), "what is cast")?;
        let to = required(node.type_name(), "the type of a cast")?;
        if context == Context::FuncExpr {
            self.str("CAST(");
            self.expr(Some(argument), Context::AExpr)?;
            self.str(" AS ");
            self.type_name(to)?;
            self.char(')');
            return Ok(());
        }
        let mut needs_parens = needs_parens_as_c_expr(argument);
        if let Some(constant) = argument.cast::<AConst<'_>>() {
            if self.literal_of_type(constant, to, context)? {
                return Ok(());
            }
            // A sign would be read as the operator, which has a lower precedence than the cast.
            needs_parens = match constant.val().map(|value| value.view()) {
                Some(View::Float(_)) => true,
                Some(View::Integer(value)) => value.ival() < 0,
                _ => needs_parens,
            };
        }
        if needs_parens {
            self.in_parens(argument)?;
        } else {
            self.expr(Some(argument), Context::None)?;
        }
        self.str("::");
        self.type_name(to)
    }

    /// A literal with the name of its type before it, for places where no cast is allowed.
    pub(super) fn literal_with_type(&mut self, node: TypeCast<'_>) -> DeparseResult {
        let to = required(node.type_name(), "the type of a literal")?;
        let literal = node.arg().and_then(Node::cast::<AConst<'_>>);
        let literal =
            literal.filter(|literal| is_string(*literal) && to.array_bounds().is_empty() && !to.setof());
        let literal = literal.ok_or_else(|| DeparseError::new("only a string can have a type before it"))?;
        if self.literal_of_type(literal, to, Context::None)? {
            return Ok(());
        }
        let fields_after = self.type_of_literal(to)?;
        self.char(' ');
        self.a_const(literal)?;
        if fields_after { self.interval_typmods(to) } else { Ok(()) }
    }

    /// A literal with the name of its type before it. If the cast cannot be written so, writes nothing and returns
    /// false.
    fn literal_of_type(
        &mut self,
        constant: AConst<'_>,
        to: TypeName<'_>,
        context: Context,
    ) -> Result<bool, DeparseError> {
        let text = constant.val().and_then(|value| value.cast::<StringNode<'_>>()).map(StringNode::sval);
        if !to.array_bounds().is_empty() || to.setof() {
            return Ok(false);
        }
        match (system_name(to.names()), text) {
            (Some("bpchar"), _) if to.typmods().is_empty() => {
                self.str("char ");
                self.a_const(constant)?;
            }
            (Some("interval"), Some(_)) if context == Context::SetStatement => {
                self.str("interval ");
                self.a_const(constant)?;
                self.interval_typmods(to)?;
            }
            (None, _)
                if only_string(to.names()) == Some("point")
                    && to.typmods().is_empty()
                    && constant.location() > to.location() =>
            {
                self.str(" point ");
                self.a_const(constant)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
