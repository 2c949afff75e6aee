//! Writes statements that make a table or a view from a query.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CreateTableAsStmt, ExecuteStmt, NodeTag, ObjectType, ViewCheckOption, ViewStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_table_as_stmt(&mut self, stmt: CreateTableAsStmt<'_>) -> DeparseResult {
        let into = required(stmt.into(), "the table of CREATE TABLE AS")?;
        let query = required(stmt.query(), "the query of CREATE TABLE AS")?;
        self.str("CREATE ");
        self.opt_temp(required(into.rel(), "the table of CREATE TABLE AS")?.relpersistence())?;
        self.str(match stmt.objtype() {
            ObjectType::ObjectTable => "TABLE ",
            ObjectType::ObjectMatview => "MATERIALIZED VIEW ",
            _ => {
                return Err(DeparseError::misplaced(
                    NodeTag::CreateTableAsStmt,
                    "a statement that makes no table",
                ));
            }
        });
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.into_clause(into)?;
        self.str(" AS ");
        match query.cast::<ExecuteStmt<'_>>() {
            Some(execute) => self.execute_stmt(execute)?,
            None => {
                self.select_stmt(required_node(Some(query), "the query of CREATE TABLE AS")?, Context::None)?;
            }
        }
        self.char(' ');
        if into.skip_data() {
            self.str("WITH NO DATA ");
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn view_stmt(&mut self, stmt: ViewStmt<'_>) -> DeparseResult {
        let view = required(stmt.view(), "the name of a view")?;
        self.str(if stmt.replace() { "CREATE OR REPLACE " } else { "CREATE " });
        self.opt_temp(view.relpersistence())?;
        self.str("VIEW ");
        self.range_var(view, Context::None)?;
        self.char(' ');
        if !stmt.aliases().is_empty() {
            self.char('(');
            self.column_list(stmt.aliases())?;
            self.str(") ");
        }
        self.opt_with(stmt.options())?;
        self.str("AS ");
        self.select_stmt(required_node(stmt.query(), "the query of a view")?, Context::None)?;
        match stmt.with_check_option() {
            ViewCheckOption::NoCheckOption => {}
            ViewCheckOption::LocalCheckOption => self.str("WITH LOCAL CHECK OPTION "),
            ViewCheckOption::CascadedCheckOption => self.str("WITH CHECK OPTION "),
        }
        self.trim();
        Ok(())
    }
}
