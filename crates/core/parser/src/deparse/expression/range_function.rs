//! Functions and samples in FROM.

use crate::deparse::context::Context;
use crate::deparse::need::{list_of, required_element, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{List, RangeFunction, RangeTableSample};

impl Deparser<'_> {
    /// A function in FROM, or ROWS FROM.
    pub(in crate::deparse) fn range_function(&mut self, node: RangeFunction<'_>) -> DeparseResult {
        if node.lateral() {
            self.str("LATERAL ");
        }
        if node.is_rowsfrom() {
            self.str("ROWS FROM (");
            self.separated(node.functions(), |deparser, function| {
                let function = list_of(function, "a function of ROWS FROM")?;
                deparser.func_expr_windowless(required_element(function, 0, "a function")?)?;
                deparser.char(' ');
                let columns =
                    list_of(required_element(function, 1, "a list of columns")?, "a list of columns")?;
                if !columns.is_empty() {
                    deparser.str("AS ");
                    deparser.column_definitions(columns)?;
                }
                Ok(())
            })?;
            self.char(')');
        } else {
            let function =
                list_of(required_element(node.functions(), 0, "a function")?, "a function in FROM")?;
            self.func_expr_windowless(required_element(function, 0, "a function")?)?;
        }
        self.char(' ');
        if node.ordinality() {
            self.str("WITH ORDINALITY ");
        }
        if let Some(alias) = node.alias() {
            self.alias(alias)?;
            self.char(' ');
        }
        if !node.coldeflist().is_empty() {
            if node.alias().is_none() {
                self.str("AS ");
            }
            self.column_definitions(node.coldeflist())?;
        }
        self.trim();
        Ok(())
    }

    fn column_definitions(&mut self, columns: List<'_>) -> DeparseResult {
        self.char('(');
        self.separated(columns, |deparser, column| {
            deparser.column_def(required_node(column, "a column's definition")?)
        })?;
        self.char(')');
        Ok(())
    }

    /// TABLESAMPLE.
    pub(in crate::deparse) fn range_table_sample(&mut self, node: RangeTableSample<'_>) -> DeparseResult {
        self.range_var(required_node(node.relation(), "the table of TABLESAMPLE")?, Context::None)?;
        self.str(" TABLESAMPLE ");
        self.func_name(node.method())?;
        self.char('(');
        self.expr_list(node.args())?;
        self.str(") ");
        if let Some(seed) = node.repeatable() {
            self.str("REPEATABLE (");
            self.expr(Some(seed), Context::AExpr)?;
            self.str(") ");
        }
        self.trim();
        Ok(())
    }
}
