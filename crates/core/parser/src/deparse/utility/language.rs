//! Writes CREATE LANGUAGE, CREATE TRANSFORM, CREATE ACCESS METHOD.

use crate::deparse::need::required;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{CreateAmStmt, CreatePLangStmt, CreateTransformStmt, List};

impl Deparser<'_> {
    pub(in crate::deparse) fn create_p_lang_stmt(&mut self, statement: CreatePLangStmt<'_>) -> DeparseResult {
        self.str(if statement.replace() { "CREATE OR REPLACE " } else { "CREATE " });
        self.str(if statement.pltrusted() { "TRUSTED LANGUAGE " } else { "LANGUAGE " });
        self.non_reserved_word_or_sconst(required(statement.plname(), "a language")?)?;
        self.handler(" HANDLER ", statement.plhandler())?;
        self.handler(" INLINE ", statement.plinline())?;
        self.handler(" VALIDATOR ", statement.plvalidator())
    }

    fn handler(&mut self, words: &str, name: List<'_>) -> DeparseResult {
        if name.is_empty() {
            return Ok(());
        }
        self.str(words);
        self.handler_name(name)
    }

    pub(in crate::deparse) fn create_transform_stmt(
        &mut self,
        statement: CreateTransformStmt<'_>,
    ) -> DeparseResult {
        self.str(if statement.replace() { "CREATE OR REPLACE " } else { "CREATE " });
        self.str("TRANSFORM FOR ");
        self.type_name(required(statement.type_name(), "the type of a transform")?)?;
        self.str(" LANGUAGE ");
        self.ident(required(statement.lang(), "a language")?);
        self.str(" (");
        let functions =
            [("FROM SQL WITH FUNCTION ", statement.fromsql()), ("TO SQL WITH FUNCTION ", statement.tosql())];
        let functions = functions.into_iter().filter_map(|(words, function)| Some((words, function?)));
        self.separated(functions, |this, (words, function)| {
            this.str(words);
            this.function_with_argtypes(function)
        })?;
        self.char(')');
        Ok(())
    }

    pub(in crate::deparse) fn create_am_stmt(&mut self, statement: CreateAmStmt<'_>) -> DeparseResult {
        self.str("CREATE ACCESS METHOD ");
        self.ident(required(statement.amname(), "an access method")?);
        self.str(match statement.amtype() {
            'i' => " TYPE INDEX ",
            't' => " TYPE TABLE ",
            other => return Err(DeparseError::new(format!("{other:?} is not a type of access method"))),
        });
        self.str("HANDLER ");
        self.handler_name(statement.handler_name())
    }
}
