//! ALTER of objects of many kinds: DEPENDS ON EXTENSION, SET SCHEMA; ALTER TABLESPACE; SECURITY LABEL.

use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, required};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{
    AlterObjectDependsStmt, AlterObjectSchemaStmt, AlterTableSpaceOptionsStmt, ObjectType, SecLabelStmt,
};

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_object_depends_stmt(
        &mut self,
        stmt: AlterObjectDependsStmt<'_>,
    ) -> DeparseResult {
        let kind = stmt.object_type();
        self.str("ALTER ");
        self.object_kind(kind)?;
        match kind {
            ObjectType::ObjectTrigger => {
                let names = list_of(stmt.object(), "the name of a trigger")?;
                self.ident(string_of(names.first())?);
                self.str(" ON ");
                self.relation(stmt.relation())?;
            }
            ObjectType::ObjectMatview | ObjectType::ObjectIndex => self.relation(stmt.relation())?,
            _ => self.object(kind, stmt.object())?,
        }
        self.str(if stmt.remove() { " NO DEPENDS ON EXTENSION " } else { " DEPENDS ON EXTENSION " });
        self.column_name(required(stmt.extname(), "an extension")?.sval());
        Ok(())
    }

    pub(in crate::deparse) fn alter_object_schema_stmt(
        &mut self,
        stmt: AlterObjectSchemaStmt<'_>,
    ) -> DeparseResult {
        let kind = stmt.object_type();
        self.str("ALTER ");
        self.object_kind(kind)?;
        match kind {
            ObjectType::ObjectTable
            | ObjectType::ObjectSequence
            | ObjectType::ObjectView
            | ObjectType::ObjectMatview
            | ObjectType::ObjectForeignTable => {
                if stmt.missing_ok() {
                    self.str("IF EXISTS ");
                }
                self.relation(stmt.relation())?;
            }
            _ => self.object(kind, stmt.object())?,
        }
        self.str(" SET SCHEMA ");
        self.col_id(stmt.newschema())
    }

    pub(in crate::deparse) fn alter_table_space_options_stmt(
        &mut self,
        stmt: AlterTableSpaceOptionsStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER TABLESPACE ");
        self.col_id(stmt.tablespacename())?;
        self.str(if stmt.is_reset() { " RESET " } else { " SET " });
        self.rel_options(stmt.options())
    }

    pub(in crate::deparse) fn sec_label_stmt(&mut self, stmt: SecLabelStmt<'_>) -> DeparseResult {
        self.str("SECURITY LABEL ");
        if let Some(provider) = stmt.provider() {
            self.str("FOR ");
            self.non_reserved_word_or_sconst(provider)?;
            self.char(' ');
        }
        self.str("ON ");
        self.object_kind(stmt.objtype())?;
        self.object(stmt.objtype(), stmt.object())?;
        self.str(" IS ");
        match stmt.label() {
            Some(label) => self.string_literal(label),
            None => self.str("NULL"),
        }
        Ok(())
    }
}
