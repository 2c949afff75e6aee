//! ALTER DATABASE, CREATE TABLESPACE.

use crate::deparse::need::given;
use crate::deparse::{Deparser, Done};
use crate::node::{
    AlterDatabaseRefreshCollStmt, AlterDatabaseSetStmt, AlterDatabaseStmt, CreateTableSpaceStmt,
};

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_database_stmt(&mut self, statement: AlterDatabaseStmt<'_>) -> Done {
        self.str("ALTER DATABASE ");
        self.ident(given(statement.dbname(), "a database")?);
        self.char(' ');
        self.createdb_opt_list(statement.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_database_set_stmt(
        &mut self,
        statement: AlterDatabaseSetStmt<'_>,
    ) -> Done {
        self.str("ALTER DATABASE ");
        self.ident(given(statement.dbname(), "a database")?);
        self.char(' ');
        self.variable_set_stmt(given(statement.setstmt(), "a setting")?)
    }

    pub(in crate::deparse) fn alter_database_refresh_coll_stmt(
        &mut self,
        statement: AlterDatabaseRefreshCollStmt<'_>,
    ) -> Done {
        self.str("ALTER DATABASE ");
        self.ident(given(statement.dbname(), "a database")?);
        self.str(" REFRESH COLLATION VERSION");
        Ok(())
    }

    pub(in crate::deparse) fn create_table_space_stmt(
        &mut self,
        statement: CreateTableSpaceStmt<'_>,
    ) -> Done {
        self.str("CREATE TABLESPACE ");
        self.ident(given(statement.tablespacename(), "a tablespace")?);
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
