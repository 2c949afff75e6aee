//! Writes CREATE and ALTER PUBLICATION, REPLICA IDENTITY.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AlterPublicationAction, AlterPublicationStmt, CreatePublicationStmt, List, PublicationObjSpec,
    PublicationObjSpecType, PublicationTable, ReplicaIdentityStmt,
};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_publication_stmt(
        &mut self,
        statement: CreatePublicationStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE PUBLICATION ");
        self.ident(required(statement.pubname(), "a publication")?);
        self.char(' ');
        if !statement.pubobjects().is_empty() {
            self.str("FOR ");
            self.publication_objects(statement.pubobjects())?;
            self.char(' ');
        } else if statement.for_all_tables() {
            self.str("FOR ALL TABLES ");
        }
        self.opt_definition(statement.options())?;
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_publication_stmt(
        &mut self,
        statement: AlterPublicationStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER PUBLICATION ");
        self.ident(required(statement.pubname(), "a publication")?);
        if statement.pubobjects().is_empty() {
            self.str(" SET ");
            return self.definition(statement.options());
        }
        self.str(match statement.action() {
            AlterPublicationAction::ApSetObjects => " SET ",
            AlterPublicationAction::ApAddObjects => " ADD ",
            AlterPublicationAction::ApDropObjects => " DROP ",
        });
        self.publication_objects(statement.pubobjects())
    }

    fn publication_objects(&mut self, objects: List<'_>) -> DeparseResult {
        self.separated(objects, |this, object| {
            let object = required_node::<PublicationObjSpec<'_>>(object, "what a publication is of")?;
            match object.pubobjtype() {
                PublicationObjSpecType::PublicationobjTable => {
                    this.publication_table(required(object.pubtable(), "a table of a publication")?)
                }
                PublicationObjSpecType::PublicationobjTablesInSchema => {
                    this.str("TABLES IN SCHEMA ");
                    this.ident(required(object.name(), "a schema")?);
                    Ok(())
                }
                PublicationObjSpecType::PublicationobjTablesInCurSchema => {
                    this.str("TABLES IN SCHEMA CURRENT_SCHEMA");
                    Ok(())
                }
                PublicationObjSpecType::PublicationobjContinuation => {
                    Err(DeparseError::new("an object of a publication has an unknown kind"))
                }
            }
        })
    }

    fn publication_table(&mut self, table: PublicationTable<'_>) -> DeparseResult {
        self.str("TABLE ");
        self.relation(table.relation())?;
        if !table.columns().is_empty() {
            self.char('(');
            self.column_list(table.columns())?;
            self.char(')');
        }
        if let Some(condition) = table.where_clause() {
            self.str(" WHERE (");
            self.expr(Some(condition), Context::AExpr)?;
            self.char(')');
        }
        Ok(())
    }

    /// REPLICA IDENTITY of ALTER TABLE. Ends with a space, except after a name.
    pub(in crate::deparse) fn replica_identity_stmt(
        &mut self,
        statement: ReplicaIdentityStmt<'_>,
    ) -> DeparseResult {
        match statement.identity_type() {
            'n' => self.str("NOTHING "),
            'f' => self.str("FULL "),
            'd' => self.str("DEFAULT "),
            'i' => {
                self.str("USING INDEX ");
                self.ident(required(statement.name(), "an index")?);
            }
            other => return Err(DeparseError::new(format!("{other:?} is not a letter of REPLICA IDENTITY"))),
        }
        Ok(())
    }
}
