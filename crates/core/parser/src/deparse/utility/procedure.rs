//! Writes DO, CALL, ALTER FUNCTION.

use crate::deparse::names::string_of;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{AlterFunctionStmt, CallStmt, DefElem, DoStmt, ObjectType};

/// The dollar quotes for a block; the first is the usual one.
const DOLLAR_QUOTES: [&str; 2] = ["$$", "$outer$"];

/// Whether `body` can be written between two of `quote`: the body must not contain the quote.
fn is_closed_by(body: &str, quote: &str) -> bool {
    if body.contains(quote) {
        return false;
    }
    // The end of the body and the first dollar sign of the closing quote may together look like the quote.
    let Some((without_last, _)) = quote.char_indices().next_back().map(|(last, _)| quote.split_at(last))
    else {
        return false;
    };
    !body.ends_with(without_last)
}

impl Deparser<'_> {
    pub(in crate::deparse) fn do_stmt(&mut self, statement: DoStmt<'_>) -> DeparseResult {
        self.str("DO ");
        for argument in statement.args() {
            let argument = required_node::<DefElem<'_>>(argument, "a part of DO")?;
            match argument.defname() {
                Some("language") => {
                    self.str("LANGUAGE ");
                    self.non_reserved_word_or_sconst(string_of(argument.arg())?)?;
                }
                Some("as") => self.block(string_of(argument.arg())?),
                _ => return Err(DeparseError::new("DO has only the options for its language and its block")),
            }
            self.char(' ');
        }
        self.trim();
        Ok(())
    }

    /// Code in dollar quotes, or as a literal if the code contains those quotes.
    fn block(&mut self, body: &str) {
        match DOLLAR_QUOTES.iter().find(|quote| is_closed_by(body, quote)) {
            Some(quote) => {
                self.str(quote);
                self.str(body);
                self.str(quote);
            }
            None => self.string_literal(body),
        }
    }

    pub(in crate::deparse) fn call_stmt(&mut self, statement: CallStmt<'_>) -> DeparseResult {
        self.str("CALL ");
        self.func_call(required(statement.funccall(), "a call")?)
    }

    pub(in crate::deparse) fn alter_function_stmt(
        &mut self,
        statement: AlterFunctionStmt<'_>,
    ) -> DeparseResult {
        self.str(match statement.objtype() {
            ObjectType::ObjectFunction => "ALTER FUNCTION ",
            ObjectType::ObjectProcedure => "ALTER PROCEDURE ",
            ObjectType::ObjectRoutine => "ALTER ROUTINE ",
            other => return Err(DeparseError::new(format!("{} is not a function", other.c_name()))),
        });
        self.function_with_argtypes(required(statement.func(), "a function")?)?;
        for action in statement.actions() {
            self.char(' ');
            self.common_func_opt_item(required_node(action, "an action of ALTER FUNCTION")?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_closed_by;

    #[test]
    fn a_body_must_not_contain_its_quote() {
        assert!(is_closed_by("BEGIN END", "$$"));
        assert!(is_closed_by("", "$$"));
        assert!(!is_closed_by("a $$ b", "$$"));
        assert!(!is_closed_by("costs 5$", "$$"));
        assert!(is_closed_by("a $$ b", "$outer$") && is_closed_by("5$", "$outer$"));
        assert!(!is_closed_by("a $outer$ b $$", "$outer$"));
        assert!(!is_closed_by("a $outer", "$outer$"));
    }
}
