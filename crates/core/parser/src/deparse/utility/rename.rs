//! ALTER ... RENAME.

use crate::deparse::context::Context;
use crate::deparse::need::required;
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{ObjectType, RenameStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn rename_stmt(&mut self, stmt: RenameStmt<'_>) -> DeparseResult {
        self.str("ALTER ");
        self.object_kind(match stmt.rename_type() {
            ObjectType::ObjectColumn => stmt.relation_type(),
            other => other,
        })?;
        if stmt.missing_ok() {
            self.str("IF EXISTS ");
        }
        self.renamed(stmt)?;
        self.str("TO ");
        self.col_id(stmt.newname())?;
        self.char(' ');
        self.opt_drop_behavior(stmt.behavior())?;
        self.trim();
        Ok(())
    }

    /// The object whose name changes: the text before TO. Ends with a space.
    fn renamed(&mut self, stmt: RenameStmt<'_>) -> DeparseResult {
        let kind = stmt.rename_type();
        match kind {
            ObjectType::ObjectPolicy | ObjectType::ObjectRule | ObjectType::ObjectTrigger => {
                self.col_id(stmt.subname())?;
                self.str(" ON ");
                self.relation(stmt.relation())?;
            }
            ObjectType::ObjectTable
            | ObjectType::ObjectSequence
            | ObjectType::ObjectView
            | ObjectType::ObjectMatview
            | ObjectType::ObjectIndex
            | ObjectType::ObjectForeignTable => self.relation(stmt.relation())?,
            ObjectType::ObjectDatabase
            | ObjectType::ObjectRole
            | ObjectType::ObjectSchema
            | ObjectType::ObjectTablespace => self.col_id(stmt.subname())?,
            ObjectType::ObjectColumn => {
                self.relation(stmt.relation())?;
                return self.renamed_part(" RENAME COLUMN ", stmt);
            }
            ObjectType::ObjectTabconstraint => {
                self.relation(stmt.relation())?;
                return self.renamed_part(" RENAME CONSTRAINT ", stmt);
            }
            ObjectType::ObjectDomconstraint => {
                self.object(kind, stmt.object())?;
                return self.renamed_part(" RENAME CONSTRAINT ", stmt);
            }
            ObjectType::ObjectAttribute => {
                self.range_var(required(stmt.relation(), "a type")?, Context::AlterType)?;
                return self.renamed_part(" RENAME ATTRIBUTE ", stmt);
            }
            _ => self.object(kind, stmt.object())?,
        }
        self.str(" RENAME ");
        Ok(())
    }

    /// A part of the object that was written before, such as a column. Ends with a space.
    fn renamed_part(&mut self, keywords: &str, stmt: RenameStmt<'_>) -> DeparseResult {
        self.str(keywords);
        self.col_id(stmt.subname())?;
        self.char(' ');
        Ok(())
    }
}
