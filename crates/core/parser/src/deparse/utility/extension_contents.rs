//! ALTER EXTENSION.

use crate::deparse::names::string_of;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterExtensionContentsStmt, AlterExtensionStmt, DefElem};

impl Deparser<'_> {
    pub(in crate::deparse) fn alter_extension_stmt(
        &mut self,
        statement: AlterExtensionStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER EXTENSION ");
        self.ident(required(statement.extname(), "an extension")?);
        self.str(" UPDATE ");
        for option in statement.options() {
            let option = required_node::<DefElem<'_>>(option, "an option of ALTER EXTENSION")?;
            if option.defname() != Some("new_version") {
                return Err(DeparseError::new("ALTER EXTENSION has no option but its version"));
            }
            self.str("TO ");
            self.non_reserved_word_or_sconst(string_of(option.arg())?)?;
            self.char(' ');
        }
        self.trim();
        Ok(())
    }

    pub(in crate::deparse) fn alter_extension_contents_stmt(
        &mut self,
        statement: AlterExtensionContentsStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER EXTENSION ");
        self.ident(required(statement.extname(), "an extension")?);
        self.str(if statement.action() < 0 { " DROP " } else { " ADD " });
        self.object_kind(statement.objtype())?;
        self.object(statement.objtype(), statement.object())
    }
}
