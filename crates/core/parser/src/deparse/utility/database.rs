//! ALTER DATABASE, CREATE TABLESPACE.

use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    AlterDatabaseRefreshCollStmt, AlterDatabaseSetStmt, AlterDatabaseStmt, CreateTableSpaceStmt,
};

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_database_stmt(
        &mut self,
        statement: AlterDatabaseStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER DATABASE ");
        self.ident(required(statement.dbname(), "a database")?);
        self.char(' ');
        self.createdb_opt_list(statement.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_database_set_stmt(
        &mut self,
        statement: AlterDatabaseSetStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER DATABASE ");
        self.ident(required(statement.dbname(), "a database")?);
        self.char(' ');
        self.variable_set_stmt(required(statement.setstmt(), "a setting")?)
    }

    pub(in crate::deparse) fn alter_database_refresh_coll_stmt(
        &mut self,
        statement: AlterDatabaseRefreshCollStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER DATABASE ");
        self.ident(required(statement.dbname(), "a database")?);
        self.str(" REFRESH COLLATION VERSION");
        Ok(())
    }

    pub(in crate::deparse) fn create_table_space_stmt(
        &mut self,
        statement: CreateTableSpaceStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE TABLESPACE ");
        self.ident(required(statement.tablespacename(), "a tablespace")?);
        if let Some(owner) = statement.owner() {
            self.str(" OWNER ");
            self.role_spec(owner)?;
        }
        self.str(" LOCATION ");
        self.string_literal(statement.location().unwrap_or_default());
        self.char(' ');
        self.opt_with(statement.options())?;
        self.trim();
        Ok(())
    }
}
