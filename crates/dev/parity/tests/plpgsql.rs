//! Compares the trees of PL/pgSQL with pg_query's. Our JSON must also be valid; pg_query's is not always.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::de::IgnoredAny;
use trunkline_parity::{compare, oracle, same, same_value};
use trunkline_parser::parse_plpgsql;

/// The text that pg_query writes for a variable of a trigger, such as TG_NAME.
const TRIGGERS_VARIABLE: &str = "{}}";
/// The least number of texts in the corpus with functions of triggers.
const TRIGGERS_MIN: usize = 50;

fn json(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| format!("no JSON: {error}\n{text}"))
}

/// The end of the JSON object at the beginning of a text.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' if !is_string => depth += 1,
            b'}' if !is_string => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Our JSON without the variables of triggers, which pg_query leaves out.
fn without_triggers_variables(expected: &str, got: &str) -> Option<String> {
    let (mut out, mut rest) = (String::new(), got);
    let mut pieces = expected.split(TRIGGERS_VARIABLE).peekable();
    while let Some(piece) = pieces.next() {
        let (same, after) = rest.split_at_checked(piece.len())?;
        out.push_str(same);
        rest = after;
        if pieces.peek().is_none() {
            out.push_str(rest);
            break;
        }
        out.push_str(TRIGGERS_VARIABLE);
        // `"PLpgSQL_stmt_null":{}}` is right.
        rest = match piece.ends_with([',', '[']) && rest.starts_with("{\"PLpgSQL_var\":{\"refname\":\"tg_") {
            true => rest.get(object_end(rest)?..)?,
            false => rest.strip_prefix(TRIGGERS_VARIABLE)?,
        };
    }
    Some(out)
}

#[test]
fn functions() {
    let triggers = AtomicUsize::new(0);
    compare("plpgsql", |statement| match (oracle::plpgsql(&statement.sql), parse_plpgsql(&statement.sql)) {
        (Ok(expected), Ok(got)) => {
            json(&got)?;
            if json(&expected).is_ok() {
                return same(&expected, &got);
            }
            triggers.fetch_add(1, Ordering::Relaxed);
            same(&expected, &without_triggers_variables(&expected, &got).unwrap_or(got))
        }
        (Err(expected), Err(got)) => {
            same(&expected.message, got.message())?;
            same_value(&expected.context.as_deref(), &got.context())?;
            same_value(&expected.cursorpos, &i32::try_from(got.cursor()).unwrap_or(-1))
        }
        (Err(expected), Ok(_)) if expected.is_assertion() => Ok(()),
        (expected, got) => Err(format!("expected {expected:?}\ngot      {got:?}")),
    });
    assert!(triggers.into_inner() >= TRIGGERS_MIN);
}
