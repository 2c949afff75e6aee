//! CREATE EXTENSION.

use crate::deparse::names::string_of;
use crate::deparse::need::required_node;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CreateExtensionStmt, DefElem};

use super::definition::option_name;

impl Deparser<'_> {
    pub(in crate::deparse) fn create_extension_stmt(
        &mut self,
        stmt: CreateExtensionStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE EXTENSION ");
        if stmt.if_not_exists() {
            self.str("IF NOT EXISTS ");
        }
        self.col_id(stmt.extname())?;
        for option in stmt.options() {
            let option = required_node::<DefElem<'_>>(option, "an option")?;
            match option_name(option) {
                "schema" => {
                    self.str(" SCHEMA ");
                    self.ident(string_of(option.arg())?);
                }
                "new_version" => {
                    self.str(" VERSION ");
                    self.non_reserved_word_or_sconst(string_of(option.arg())?)?;
                }
                "cascade" => self.str(" CASCADE"),
                other => return Err(DeparseError::new(format!("CREATE EXTENSION has no option {other:?}"))),
            }
        }
        Ok(())
    }
}
