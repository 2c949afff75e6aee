//! COMMENT ON.

use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, need};
use crate::deparse::{DeparseError, Deparser, Done};
use crate::node::{CommentStmt, List, ObjectType};

impl Deparser<'_> {
    pub(in crate::deparse) fn comment_stmt(&mut self, statement: CommentStmt<'_>) -> Done {
        self.str("COMMENT ON ");
        match statement.objtype() {
            ObjectType::ObjectTabconstraint => {
                let names = self.constraint_name(statement)?;
                self.str(" ON ");
                self.any_name_skip_last(names)?;
            }
            ObjectType::ObjectDomconstraint => {
                let names = self.constraint_name(statement)?;
                self.str(" ON DOMAIN ");
                self.type_name(need(names.first(), "a domain")?)?;
            }
            kind => {
                self.object_kind(kind)?;
                self.object(kind, statement.object())?;
            }
        }
        self.str(" IS ");
        match statement.comment() {
            Some(comment) => self.string_literal(comment),
            None => self.str("NULL"),
        }
        Ok(())
    }

    /// The name of a constraint, which stands after the names of what it is on.
    fn constraint_name<'a>(&mut self, statement: CommentStmt<'a>) -> Result<List<'a>, DeparseError> {
        self.str("CONSTRAINT ");
        let names = list_of(statement.object(), "a constraint")?;
        self.ident(string_of(names.last())?);
        Ok(names)
    }
}
