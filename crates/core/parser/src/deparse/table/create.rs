//! CREATE TABLE and CREATE FOREIGN TABLE.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{CreateForeignTableStmt, CreateStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_stmt(
        &mut self,
        stmt: CreateStmt<'_>,
        is_foreign: bool,
    ) -> DeparseResult {
        let table = required(stmt.relation(), "the table of CREATE TABLE")?;
        self.str(if is_foreign { "CREATE FOREIGN " } else { "CREATE " });
        self.opt_temp(table.relpersistence())?;
        self.str(if stmt.if_not_exists() { "TABLE IF NOT EXISTS " } else { "TABLE " });
        self.range_var(table, Context::None)?;
        self.char(' ');
        if let Some(type_name) = stmt.of_typename() {
            self.str("OF ");
            self.any_name(type_name.names())?;
            self.char(' ');
        }
        if stmt.partbound().is_some() {
            self.str("PARTITION OF ");
            self.range_var(
                required_node(stmt.inh_relations().first(), "the table of a partition")?,
                Context::None,
            )?;
            self.char(' ');
        }
        self.table_elements(stmt)?;
        match stmt.partbound() {
            Some(bound) => {
                self.partition_bound_spec(bound)?;
                self.char(' ');
            }
            None => self.opt_inherit(stmt.inh_relations())?,
        }
        if let Some(spec) = stmt.partspec() {
            self.partition_spec(spec)?;
            self.char(' ');
        }
        self.table_storage(stmt)
    }

    fn table_elements(&mut self, stmt: CreateStmt<'_>) -> DeparseResult {
        if !stmt.table_elts().is_empty() {
            self.char('(');
            self.enter();
            self.comma_parts(stmt.table_elts(), Self::table_element)?;
            self.leave();
            self.str(") ");
        } else if stmt.partbound().is_none() && stmt.of_typename().is_none() {
            self.str("() ");
        }
        Ok(())
    }

    fn table_storage(&mut self, stmt: CreateStmt<'_>) -> DeparseResult {
        if let Some(method) = stmt.access_method() {
            self.keyword_name("USING", method);
        }
        self.opt_with(stmt.options())?;
        self.on_commit(stmt.oncommit());
        if let Some(tablespace) = stmt.tablespacename() {
            self.keyword_name("TABLESPACE", tablespace);
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn create_foreign_table_stmt(
        &mut self,
        stmt: CreateForeignTableStmt<'_>,
    ) -> DeparseResult {
        self.create_stmt(stmt.base(), true)?;
        self.char(' ');
        self.keyword_name("SERVER", required(stmt.servername(), "the server of a foreign table")?);
        if !stmt.options().is_empty() {
            self.alter_generic_options(stmt.options())?;
        }
        self.trim();
        Ok(())
    }
}
