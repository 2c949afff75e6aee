//! Columns, and fields and elements of what an expression gives.

use crate::deparse::context::Context;
use crate::deparse::need::{given, nth};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::{
    AIndices, AIndirection, AStar, CollateClause, ColumnRef, List, Node, NodeTag, SubLink, SubLinkType, View,
};

use super::precedence::{Precedence, Side};

impl Deparser<'_> {
    /// A column, perhaps with its table; `*`.
    pub(in crate::deparse) fn column_ref(&mut self, node: ColumnRef<'_>) -> Done {
        self.comments(node.location());
        match nth(node.fields(), 0, "a column's name")?.map(Node::view) {
            Some(View::AStar(star)) => self.a_star(star)?,
            Some(View::String(name)) => self.col_label(name.sval()),
            Some(other) => return Err(DeparseError::misplaced(other.tag(), "a column's name")),
            None => return Err(DeparseError::missing("a column's name")),
        }
        if node.fields().len() > 1 { self.opt_indirection(node.fields(), 1) } else { Ok(()) }
    }

    /// `*`.
    pub(in crate::deparse) fn a_star(&mut self, _: AStar<'_>) -> Done {
        self.char('*');
        Ok(())
    }

    /// `opt_indirection`, from the element of that number on: fields, elements and `.*`.
    pub(in crate::deparse) fn opt_indirection(&mut self, list: List<'_>, from: usize) -> Done {
        for node in list.iter().skip(from) {
            match given(node, "a field")?.view() {
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
    pub(in crate::deparse) fn a_indices(&mut self, node: AIndices<'_>) -> Done {
        self.char('[');
        self.expr(node.lidx(), Context::AExpr)?;
        if node.is_slice() {
            self.char(':');
        }
        self.expr(node.uidx(), Context::AExpr)?;
        self.char(']');
        Ok(())
    }

    /// Fields and elements of an expression. The grammar takes only few without parentheses: a parameter, a column (whose
    /// fields would be its own), a subquery.
    pub(in crate::deparse) fn a_indirection(&mut self, node: AIndirection<'_>) -> Done {
        let argument = given(node.arg(), "what a field is taken of")?;
        let is_bare = match argument.view() {
            View::ParamRef(_) => true,
            View::ColumnRef(column) => {
                let is_all = column.fields().iter().flatten().any(|field| field.tag() == NodeTag::AStar);
                let first = nth(node.indirection(), 0, "a field")?;
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
    pub(in crate::deparse) fn collate_clause(&mut self, node: CollateClause<'_>) -> Done {
        if node.arg().is_some() {
            self.operand(node.arg(), Precedence::Collate, Side::Left, Context::AExpr)?;
            self.char(' ');
        }
        self.str("COLLATE ");
        self.any_name(node.collname())
    }
}
