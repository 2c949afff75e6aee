//! PL/pgSQL: the bodies of functions and of DO.

use crate::error::ParseError;
use crate::raw;

/// The trees of the PL/pgSQL functions that `text` makes (CREATE FUNCTION, CREATE PROCEDURE, DO), as the JSON that
/// pg_query's `parse_plpgsql` gives: an array, empty where there is none. Where pg_query's is no JSON, this is: the
/// variables of triggers' functions (`tg_name`) are written as variables.
///
/// ```
/// let json = trunkline_parser::parse_plpgsql("DO $$ BEGIN PERFORM 1; END $$")?;
/// assert!(json.contains("PLpgSQL_stmt_perform"));
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// What PostgreSQL says is wrong with the text or with a body in it; [`ParseError::context`] says where in the body,
/// and the SQLSTATE of all of them is 42601 (`syntax_error`). Blocks that are nested some thousand deep are too many.
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

    fn is_json(text: &str) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }

    /// libpg_query writes `{}}` for the variables of a trigger.
    #[test]
    fn a_triggers_function_is_json() {
        let json = parse_plpgsql(
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.a := TG_NAME; RETURN NEW; END $$",
        )
        .expect("it parses");
        assert!(is_json(&json), "{json}");
        for name in ["tg_name", "tg_op", "tg_argv", "new", "old"] {
            assert!(json.contains(&format!("\"refname\":\"{name}\"")), "{name}: {json}");
        }
        let event = "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% <\u{1}>', tg_tag; END $$";
        let json = parse_plpgsql(event).expect("it parses");
        assert!(is_json(&json) && json.contains("tg_tag"), "{json}");
    }

    #[test]
    fn functions_of_other_languages_have_nothing_in_them() {
        let sql = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'";
        let both = format!("{sql}; DO LANGUAGE plpgsql 'BEGIN END'; {sql}; {}", block(""));
        let json = parse_plpgsql(&both).expect("it parses");
        assert!(is_json(&json), "{json}");
        assert_eq!(json.matches("PLpgSQL_function").count(), 4, "{json}");
        assert_eq!(json.matches("PLpgSQL_stmt_block").count(), 2, "{json}");
    }

    /// libpg_query copies all that it has with each function: of these, 25 GB.
    #[test]
    fn many_functions_of_one_text() {
        let text = format!("{};", block("PERFORM 1;")).repeat(DEEP / 10);
        let json = parse_plpgsql(&text).expect("it parses");
        assert!(is_json(&json));
        assert_eq!(json.matches("PLpgSQL_function").count(), DEEP / 10);
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
