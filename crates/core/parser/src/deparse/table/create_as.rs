//! Tables and views of a query.

use crate::deparse::context::Context;
use crate::deparse::need::{given, need};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::{CreateTableAsStmt, ExecuteStmt, NodeTag, ObjectType, ViewCheckOption, ViewStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_table_as_stmt(&mut self, stmt: CreateTableAsStmt<'_>) -> Done {
        let into = given(stmt.into(), "the table of CREATE TABLE AS")?;
        let query = given(stmt.query(), "the query of CREATE TABLE AS")?;
        self.str("CREATE ");
        self.opt_temp(given(into.rel(), "the table of CREATE TABLE AS")?.relpersistence())?;
        self.str(match stmt.objtype() {
            ObjectType::ObjectTable => "TABLE ",
            ObjectType::ObjectMatview => "MATERIALIZED VIEW ",
            _ => return Err(DeparseError::misplaced(NodeTag::CreateTableAsStmt, "what makes no table")),
        });
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.into_clause(into)?;
        self.str(" AS ");
        match query.cast::<ExecuteStmt<'_>>() {
            Some(execute) => self.execute_stmt(execute)?,
            None => self.select_stmt(need(Some(query), "the query of CREATE TABLE AS")?, Context::None)?,
        }
        self.char(' ');
        if into.skip_data() {
            self.str("WITH NO DATA ");
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn view_stmt(&mut self, stmt: ViewStmt<'_>) -> Done {
        let view = given(stmt.view(), "the name of a view")?;
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
        self.select_stmt(need(stmt.query(), "the query of a view")?, Context::None)?;
        match stmt.with_check_option() {
            ViewCheckOption::NoCheckOption => {}
            ViewCheckOption::LocalCheckOption => self.str("WITH LOCAL CHECK OPTION "),
            ViewCheckOption::CascadedCheckOption => self.str("WITH CHECK OPTION "),
        }
        self.trim();
        Ok(())
    }
}
