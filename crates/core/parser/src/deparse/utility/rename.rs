//! ALTER ... RENAME.

use crate::deparse::context::Context;
use crate::deparse::need::given;
use crate::deparse::{Deparser, Done};
use crate::node::{ObjectType, RenameStmt};

impl Deparser<'_> {
    pub(in crate::deparse) fn rename_stmt(&mut self, stmt: RenameStmt<'_>) -> Done {
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

    /// What has the name that changes, up to TO. Ends with a space.
    fn renamed(&mut self, stmt: RenameStmt<'_>) -> Done {
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
                self.range_var(given(stmt.relation(), "a type")?, Context::AlterType)?;
                return self.renamed_part(" RENAME ATTRIBUTE ", stmt);
            }
            _ => self.object(kind, stmt.object())?,
        }
        self.str(" RENAME ");
        Ok(())
    }

    /// A part of the object that was written. Ends with a space.
    fn renamed_part(&mut self, keywords: &str, stmt: RenameStmt<'_>) -> Done {
        self.str(keywords);
        self.col_id(stmt.subname())?;
        self.char(' ');
        Ok(())
    }
}
