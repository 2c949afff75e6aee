//! COMMENT ON.

use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CommentStmt, List, ObjectType};

impl Deparser<'_> {
    pub(in crate::deparse) fn comment_stmt(&mut self, statement: CommentStmt<'_>) -> DeparseResult {
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
                self.type_name(required_node(names.first(), "a domain")?)?;
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

    /// The name of a constraint, which is the last name in the list. Returns the names of its table or domain.
    fn constraint_name<'a>(&mut self, statement: CommentStmt<'a>) -> Result<List<'a>, DeparseError> {
        self.str("CONSTRAINT ");
        let names = list_of(statement.object(), "a constraint")?;
        self.ident(string_of(names.last())?);
        Ok(names)
    }
}
