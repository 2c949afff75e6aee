//! Calls of functions.

use super::precedence::sql_syntax_name;
use crate::deparse::context::Context;
use crate::deparse::names::only_string;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{FuncCall, List, Node, WindowDef};

impl Deparser<'_> {
    /// A call of a function, an aggregate or a window function, in the syntax in which it was written.
    pub(in crate::deparse) fn func_call(&mut self, node: FuncCall<'_>) -> DeparseResult {
        if let Some(name) = sql_syntax_name(node)
            && self.sql_syntax_call(name, node.args())?
        {
            return Ok(());
        }
        match only_string(node.funcname()) {
            // The keyword OPERATOR would be read as the beginning of `OPERATOR(...)`.
            Some("operator") => self.str("\"operator\""),
            _ => self.func_name(node.funcname())?,
        }
        self.char('(');
        if node.agg_distinct() {
            self.str("DISTINCT ");
        }
        if node.agg_star() {
            self.char('*');
        } else {
            self.func_arg_list(node.args(), node.func_variadic())?;
        }
        if !node.agg_within_group() && !node.agg_order().is_empty() {
            self.char(' ');
            self.opt_sort_clause(node.agg_order(), Context::None)?;
            self.trim();
        }
        self.str(") ");
        if node.agg_within_group() && !node.agg_order().is_empty() {
            self.str("WITHIN GROUP (");
            self.opt_sort_clause(node.agg_order(), Context::None)?;
            self.trim();
            self.str(") ");
        }
        self.filter_and_over(node.agg_filter(), node.over())
    }

    fn func_arg_list(&mut self, arguments: List<'_>, is_variadic: bool) -> DeparseResult {
        let last = arguments.len().saturating_sub(1);
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.str(", ");
            }
            if is_variadic && index == last {
                self.str("VARIADIC ");
            }
            self.func_arg_expr(argument)?;
        }
        Ok(())
    }

    /// FILTER and OVER, which may follow an aggregate's arguments. Begins with a space and does not end with one.
    pub(super) fn filter_and_over(
        &mut self,
        filter: Option<Node<'_>>,
        over: Option<WindowDef<'_>>,
    ) -> DeparseResult {
        if filter.is_some() {
            self.str("FILTER (WHERE ");
            self.expr(filter, Context::AExpr)?;
            self.str(") ");
        }
        if let Some(over) = over {
            self.str("OVER ");
            match over.name() {
                Some(name) => self.column_name(name),
                None => self.window_def(over)?,
            }
        }
        self.trim();
        Ok(())
    }
}
