//! Writes names of operators.

use crate::deparse::names::{only_string, string_of};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AConst, AExpr, List, Node, NodeTag};

/// The grammar's `MathOp`, without `+` and `-`.
const BINARY_ONLY: [&str; 10] = ["*", "/", "%", "^", "<", ">", "=", "<=", ">=", "<>"];

/// Whether a prefix operator needs `OPERATOR()`: if the grammar knows the operator only between two operands, or if
/// it is a sign that would become part of a number.
pub(super) fn is_written_by_name(node: AExpr<'_>) -> bool {
    let is_number = |operand: AConst<'_>| {
        operand.val().is_some_and(|value| matches!(value.tag(), NodeTag::Integer | NodeTag::Float))
    };
    match only_string(node.name()) {
        Some("-") => node.rexpr().and_then(Node::cast::<AConst<'_>>).is_some_and(is_number),
        // `=` after the colon of a slice would be read as `:=`.
        name => name.is_some_and(|name| BINARY_ONLY.contains(&name) || name.starts_with('=')),
    }
}

/// Whether a name has only characters of operators.
fn is_op(name: &str) -> bool {
    name.bytes().all(|byte| {
        matches!(
            byte,
            b'~' | b'!'
                | b'@'
                | b'#'
                | b'^'
                | b'&'
                | b'|'
                | b'`'
                | b'?'
                | b'+'
                | b'-'
                | b'*'
                | b'/'
                | b'%'
                | b'<'
                | b'>'
                | b'='
        )
    })
}

impl Deparser<'_> {
    /// `any_operator`: an operator, perhaps with its schema.
    pub(in crate::deparse) fn any_operator(&mut self, name: List<'_>) -> DeparseResult {
        let count = name.len();
        if count == 0 {
            return Err(DeparseError::missing("an operator"));
        }
        for (index, part) in name.iter().enumerate() {
            let part = string_of(part)?;
            if index + 1 == count {
                self.str(part);
            } else {
                self.ident(part);
                self.char('.');
            }
        }
        Ok(())
    }

    /// `qual_Op` and `qual_all_Op`.
    pub(in crate::deparse) fn qual_op(&mut self, name: List<'_>) -> DeparseResult {
        if let Some(operator) = only_string(name).filter(|name| is_op(name)) {
            self.str(operator);
            return Ok(());
        }
        self.operator_by_name(name)
    }

    /// `qual_Op` as a prefix operator.
    pub(in crate::deparse) fn prefix_op(&mut self, node: AExpr<'_>) -> DeparseResult {
        if is_written_by_name(node) { self.operator_by_name(node.name()) } else { self.qual_op(node.name()) }
    }

    fn operator_by_name(&mut self, name: List<'_>) -> DeparseResult {
        self.str("OPERATOR(");
        self.any_operator(name)?;
        self.char(')');
        Ok(())
    }

    /// `subquery_Op`: before ANY and ALL.
    pub(in crate::deparse) fn subquery_op(&mut self, name: List<'_>) -> DeparseResult {
        let word = match only_string(name) {
            Some("~~") => "LIKE",
            Some("!~~") => "NOT LIKE",
            Some("~~*") => "ILIKE",
            Some("!~~*") => "NOT ILIKE",
            _ => return self.qual_op(name),
        };
        self.str(word);
        Ok(())
    }
}
