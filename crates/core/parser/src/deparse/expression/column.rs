//! Writes columns, and fields and elements of the value of an expression.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_element};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AIndices, AIndirection, AStar, CollateClause, ColumnRef, List, Node, NodeTag, SubLink, SubLinkType, View,
};

use super::precedence::{Precedence, Side};

impl Deparser<'_> {
    /// A column, perhaps with its table; or `*`.
    pub(in crate::deparse) fn column_ref(&mut self, node: ColumnRef<'_>) -> DeparseResult {
        self.comments(node.location());
        match required_element(node.fields(), 0, "a column's name")?.map(Node::view) {
            Some(View::AStar(star)) => self.a_star(star)?,
            Some(View::String(name)) => self.col_label(name.sval()),
            Some(other) => return Err(DeparseError::misplaced(other.tag(), "a column's name")),
            None => return Err(DeparseError::missing("a column's name")),
        }
        if node.fields().len() > 1 { self.opt_indirection(node.fields(), 1) } else { Ok(()) }
    }

    /// `*`.
    pub(in crate::deparse) fn a_star(&mut self, _: AStar<'_>) -> DeparseResult {
        self.char('*');
        Ok(())
    }

    /// `opt_indirection`: fields, elements and `.*`. Begins with the list's element number `from`.
    pub(in crate::deparse) fn opt_indirection(&mut self, list: List<'_>, from: usize) -> DeparseResult {
        for node in list.iter().skip(from) {
            match required(node, "a field")?.view() {
                View::String(name) => {
                    self.char('.');
                    self.col_label(name.sval());
                }
                View::AStar(_) => self.str(".*"),
                View::AIndices(indices) => self.deeper(|deparser| deparser.a_indices(indices))?,
                other => return Err(DeparseError::misplaced(other.tag(), "a field")),
            }
        }
        Ok(())
    }

    /// An element of an array, or a slice.
    pub(in crate::deparse) fn a_indices(&mut self, node: AIndices<'_>) -> DeparseResult {
        self.char('[');
        self.expr(node.lidx(), Context::AExpr)?;
        if node.is_slice() {
            self.char(':');
        }
        self.expr(node.uidx(), Context::AExpr)?;
        self.char(']');
        Ok(())
    }

    /// Fields and elements of an expression. The grammar accepts only a few expressions here without parentheses: a
    /// parameter, a column (but its fields would be part of the column's own node), a subquery.
    pub(in crate::deparse) fn a_indirection(&mut self, node: AIndirection<'_>) -> DeparseResult {
        let argument = required(node.arg(), "what a field is taken of")?;
        let is_bare = match argument.view() {
            View::ParamRef(_) => true,
            View::ColumnRef(column) => {
                let is_all = column.fields().iter().flatten().any(|field| field.tag() == NodeTag::AStar);
                let first = required_element(node.indirection(), 0, "a field")?;
                !is_all && first.is_some_and(|first| first.tag() == NodeTag::AIndices)
            }
            View::SubLink(link) => SubLink::sub_link_type(link) == SubLinkType::ExprSublink,
            _ => false,
        };
        if is_bare {
            self.expr(Some(argument), Context::None)?;
        } else {
            self.in_parens(argument)?;
        }
        self.opt_indirection(node.indirection(), 0)
    }

    /// COLLATE.
    pub(in crate::deparse) fn collate_clause(&mut self, node: CollateClause<'_>) -> DeparseResult {
        if node.arg().is_some() {
            self.operand(node.arg(), Precedence::Collate, Side::Left, Context::AExpr)?;
            self.char(' ');
        }
        self.str("COLLATE ");
        self.any_name(node.collname())
    }
}
