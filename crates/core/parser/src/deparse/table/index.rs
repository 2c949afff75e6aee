//! Writes indexes.

use crate::deparse::context::Context;
use crate::deparse::expression::needs_parens_as_c_expr;
use crate::deparse::need::{required, required_node};
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{IndexElem, IndexStmt, List, Node, NodeTag, SortByDir, SortByNulls, View};

/// Whether an expression of an index needs no parentheses, because it is written as a function call.
fn is_call(expression: Node<'_>) -> bool {
    let is_call = match expression.view() {
        View::FuncCall(call) => {
            !call.agg_within_group() && call.agg_filter().is_none() && call.over().is_none()
        }
        View::SQLValueFunction(_)
        | View::CoalesceExpr(_)
        | View::MinMaxExpr(_)
        | View::XmlExpr(_)
        | View::XmlSerialize(_) => true,
        _ => false,
    };
    is_call && !needs_parens_as_c_expr(expression)
}

impl Deparser<'_> {
    pub(in crate::deparse) fn index_elem(&mut self, element: IndexElem<'_>) -> DeparseResult {
        if let Some(name) = element.name() {
            self.ident(name);
            self.char(' ');
        } else {
            self.index_expression(required(element.expr(), "a column of an index")?)?;
        }
        self.opt_collate(element.collation())?;
        if !element.opclass().is_empty() {
            self.any_name(element.opclass())?;
            if !element.opclassopts().is_empty() {
                self.rel_options(element.opclassopts())?;
            }
            self.char(' ');
        }
        match element.ordering() {
            SortByDir::SortbyDefault => {}
            SortByDir::SortbyAsc => self.str("ASC "),
            SortByDir::SortbyDesc => self.str("DESC "),
            SortByDir::SortbyUsing => {
                return Err(DeparseError::misplaced(NodeTag::IndexElem, "an ORDER BY with USING"));
            }
        }
        match element.nulls_ordering() {
            SortByNulls::SortbyNullsDefault => {}
            SortByNulls::SortbyNullsFirst => self.str("NULLS FIRST "),
            SortByNulls::SortbyNullsLast => self.str("NULLS LAST "),
        }
        self.trim();
        Ok(())
    }

    fn index_expression(&mut self, expression: Node<'_>) -> DeparseResult {
        if is_call(expression) {
            self.func_expr_windowless(Some(expression))?;
            self.char(' ');
        } else {
            self.char('(');
            self.expr(Some(expression), Context::AExpr)?;
            self.str(") ");
        }
        Ok(())
    }

    fn index_elements(&mut self, elements: List<'_>) -> DeparseResult {
        self.char('(');
        self.separated(elements, |d, element| d.index_elem(required_node(element, "a column of an index")?))?;
        self.str(") ");
        Ok(())
    }

    pub(in crate::deparse) fn index_stmt(&mut self, stmt: IndexStmt<'_>) -> DeparseResult {
        self.str(if stmt.unique() { "CREATE UNIQUE INDEX " } else { "CREATE INDEX " });
        if stmt.concurrent() {
            self.str("CONCURRENTLY ");
        }
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        if let Some(name) = stmt.idxname() {
            self.ident(name);
            self.char(' ');
        }
        self.group("ON", Indent::Parts);
        self.range_var(required(stmt.relation(), "the table of an index")?, Context::None)?;
        self.char(' ');
        if let Some(method) = stmt.access_method() {
            self.keyword_name("USING", method);
        }
        self.index_elements(stmt.index_params())?;
        if !stmt.index_including_params().is_empty() {
            self.str("INCLUDE ");
            self.index_elements(stmt.index_including_params())?;
        }
        if stmt.nulls_not_distinct() {
            self.str("NULLS NOT DISTINCT ");
        }
        self.opt_with(stmt.options())?;
        if let Some(tablespace) = stmt.table_space() {
            self.keyword_name("TABLESPACE", tablespace);
        }
        self.where_clause(stmt.where_clause())?;
        self.trim();
        Ok(())
    }
}
