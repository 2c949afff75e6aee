//! Writes statements about foreign data wrappers, servers and user mappings, and IMPORT FOREIGN SCHEMA.

use crate::deparse::context::Context;
use crate::deparse::need::{list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AlterFdwStmt, AlterForeignServerStmt, AlterUserMappingStmt, CreateFdwStmt, CreateForeignServerStmt,
    CreateUserMappingStmt, DefElem, DropUserMappingStmt, ImportForeignSchemaStmt, ImportForeignSchemaType,
    List, RoleSpec,
};

use super::definition::option_name;

impl Deparser<'_> {
    /// `fdw_options`.
    pub(in crate::deparse) fn fdw_options(&mut self, options: List<'_>) -> DeparseResult {
        for (index, option) in options.into_iter().enumerate() {
            if index > 0 {
                self.char(' ');
            }
            let option = required_node::<DefElem<'_>>(option, "an option")?;
            match (option_name(option), option.arg()) {
                ("handler", None) => self.str("NO HANDLER "),
                ("validator", None) => self.str("NO VALIDATOR "),
                (name @ ("handler" | "validator"), function) => {
                    self.str(if name == "handler" { "HANDLER " } else { "VALIDATOR " });
                    self.handler_name(list_of(function, "a function of a foreign data wrapper")?)?;
                }
                (other, _) => {
                    return Err(DeparseError::new(format!(
                        "foreign data wrappers have no function {other:?}"
                    )));
                }
            }
        }
        Ok(())
    }

    pub(in crate::deparse) fn create_fdw_stmt(&mut self, stmt: CreateFdwStmt<'_>) -> DeparseResult {
        self.str("CREATE FOREIGN DATA WRAPPER ");
        self.fdw_functions(stmt.fdwname(), stmt.func_options())?;
        self.create_generic_options(stmt.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_fdw_stmt(&mut self, stmt: AlterFdwStmt<'_>) -> DeparseResult {
        self.str("ALTER FOREIGN DATA WRAPPER ");
        self.fdw_functions(stmt.fdwname(), stmt.func_options())?;
        if !stmt.options().is_empty() {
            self.alter_generic_options(stmt.options())?;
        }
        self.trim();
        Ok(())
    }

    /// The name of a wrapper and its functions. Ends with a space.
    fn fdw_functions(&mut self, name: Option<&str>, functions: List<'_>) -> DeparseResult {
        self.col_id(name)?;
        self.char(' ');
        if !functions.is_empty() {
            self.fdw_options(functions)?;
            self.char(' ');
        }
        Ok(())
    }

    pub(in crate::deparse) fn create_foreign_server_stmt(
        &mut self,
        stmt: CreateForeignServerStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE SERVER ");
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.col_id(stmt.servername())?;
        self.char(' ');
        for (keyword, value) in [("TYPE ", stmt.servertype()), ("VERSION ", stmt.version())] {
            if let Some(value) = value {
                self.str(keyword);
                self.string_literal(value);
                self.char(' ');
            }
        }
        self.str("FOREIGN DATA WRAPPER ");
        self.col_id(stmt.fdwname())?;
        self.char(' ');
        self.create_generic_options(stmt.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_foreign_server_stmt(
        &mut self,
        stmt: AlterForeignServerStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER SERVER ");
        self.col_id(stmt.servername())?;
        self.char(' ');
        if stmt.has_version() {
            self.str("VERSION ");
            match stmt.version() {
                Some(version) => self.string_literal(version),
                None => self.str("NULL"),
            }
            self.char(' ');
        }
        if !stmt.options().is_empty() {
            self.alter_generic_options(stmt.options())?;
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn create_user_mapping_stmt(
        &mut self,
        stmt: CreateUserMappingStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE USER MAPPING ");
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.mapped_user(stmt.user(), stmt.servername())?;
        self.create_generic_options(stmt.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_user_mapping_stmt(
        &mut self,
        stmt: AlterUserMappingStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER USER MAPPING ");
        self.mapped_user(stmt.user(), stmt.servername())?;
        self.alter_generic_options(stmt.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn drop_user_mapping_stmt(
        &mut self,
        stmt: DropUserMappingStmt<'_>,
    ) -> DeparseResult {
        self.str("DROP USER MAPPING ");
        if stmt.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.mapped_user(stmt.user(), stmt.servername())?;
        self.trim();
        Ok(())
    }

    /// The user and the server of a user mapping. Ends with a space.
    fn mapped_user(&mut self, user: Option<RoleSpec<'_>>, server: Option<&str>) -> DeparseResult {
        self.str("FOR ");
        self.role_spec(required(user, "a user")?)?;
        self.str(" SERVER ");
        self.col_id(server)?;
        self.char(' ');
        Ok(())
    }

    pub(in crate::deparse) fn import_foreign_schema_stmt(
        &mut self,
        stmt: ImportForeignSchemaStmt<'_>,
    ) -> DeparseResult {
        self.str("IMPORT FOREIGN SCHEMA ");
        self.column_name(required(stmt.remote_schema(), "a schema")?);
        self.char(' ');
        let tables = match stmt.list_type() {
            ImportForeignSchemaType::FdwImportSchemaAll => None,
            ImportForeignSchemaType::FdwImportSchemaLimitTo => Some("LIMIT TO ("),
            ImportForeignSchemaType::FdwImportSchemaExcept => Some("EXCEPT ("),
        };
        if let Some(which) = tables {
            self.str(which);
            self.relation_expr_list(stmt.table_list())?;
            self.str(") ");
        }
        self.str("FROM SERVER ");
        self.col_id(stmt.server_name())?;
        self.str(" INTO ");
        self.col_id(stmt.local_schema())?;
        self.char(' ');
        self.create_generic_options(stmt.options())?;
        self.trim();
        Ok(())
    }

    /// `relation_expr_list`.
    pub(in crate::deparse) fn relation_expr_list(&mut self, relations: List<'_>) -> DeparseResult {
        self.separated(relations, |d, relation| {
            d.range_var(required_node(relation, "a table")?, Context::None)
        })
    }
}
