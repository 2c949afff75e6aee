//! PL/pgSQL: the bodies of functions and of DO.

use crate::error::ParseError;
use crate::raw;

/// The trees of the PL/pgSQL functions that `text` makes (CREATE FUNCTION, CREATE PROCEDURE, DO), as the JSON that pg_query's
/// `parse_plpgsql` gives: an array, empty where there is none.
///
/// ```
/// let json = trunkline_parser::parse_plpgsql("DO $$ BEGIN PERFORM 1; END $$")?;
/// assert!(json.contains("PLpgSQL_stmt_perform"));
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// What PostgreSQL says is wrong with the text or with a body in it; [`ParseError::context`] says where in the body, and the
/// SQLSTATE is 42601 (`syntax_error`) of all of them. Blocks that are nested some thousand deep are too many.
pub fn parse_plpgsql(text: &str) -> Result<String, ParseError> {
    raw::plpgsql(text)
}

#[cfg(test)]
mod tests {
    use super::parse_plpgsql;
    use crate::error::SqlState;

    const DEEP: usize = 100_000;

    fn block(body: &str) -> String {
        format!("DO $body$ BEGIN {body} END $body$")
    }

    #[test]
    fn an_error_says_where_in_the_body() {
        let error = parse_plpgsql(&block("IF 1 THEN SELECT; END")).expect_err("IF without END IF");
        assert!(error.context().is_some_and(|context| context.contains("line")), "{error:?}");
        assert!(parse_plpgsql("SELECT 1 1").is_err());
        assert!(parse_plpgsql(&block("a := ;")).is_err());
        assert!(parse_plpgsql("a\0").is_err());
    }

    #[test]
    fn nothing_in_it() {
        for text in ["", ";", "-- a", "SELECT 1"] {
            assert_eq!(parse_plpgsql(text).as_deref().map(str::trim), Ok("[]"), "{text}");
        }
    }

    #[test]
    fn too_deep_is_an_error() {
        let nested = "BEGIN ".repeat(DEEP) + &"END;".repeat(DEEP);
        let ifs = "IF a THEN ".repeat(DEEP) + &"END IF;".repeat(DEEP);
        let parentheses = format!("PERFORM {}1{};", "(".repeat(DEEP), ")".repeat(DEEP));
        for body in [nested, ifs, parentheses] {
            let error = parse_plpgsql(&block(&body)).expect_err("it is too deep");
            assert!(error.message().starts_with("memory exhausted"), "{error}");
            assert_eq!(error.sqlstate(), SqlState::SYNTAX_ERROR);
        }
        // The stack is the same for the next one.
        let some = "BEGIN ".repeat(100) + &"END;".repeat(100);
        assert!(parse_plpgsql(&block(&some)).is_ok());
    }

    #[test]
    fn long_expressions_and_lists() {
        let sum = format!("PERFORM 1{};", "+1".repeat(DEEP));
        let json = parse_plpgsql(&block(&sum));
        assert!(json.is_ok_and(|json| json.len() > 2 * DEEP));
        let list = format!("PERFORM a IN (1{});", ",1".repeat(DEEP));
        assert!(parse_plpgsql(&block(&list)).is_ok());
        let statements = "PERFORM 1;".repeat(DEEP / 10);
        assert!(parse_plpgsql(&block(&statements)).is_ok());
    }
}
