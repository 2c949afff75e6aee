//! PostgreSQL's own parser of PL/pgSQL, with libpg_query's JSON.

use std::ffi::CString;

use super::call;
use crate::error::{ParseError, SqlState};
use crate::options::TREE_BYTES_MAX;

/// The stack that PL/pgSQL's parser runs on. Its recursive code checks how deep it is.
const STACK_BYTES: usize = 8 << 20;
/// What its check does not know of: frames of the caller, and of functions that do not check.
const STACK_MARGIN_BYTES: usize = 1 << 20;

/// The PL/pgSQL functions of a text as JSON.
pub(crate) fn plpgsql(text: &str) -> Result<String, ParseError> {
    call::check(text)?;
    let terminated = CString::new(text)
        .map_err(|_| ParseError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, "the text holds a NUL", None))?;
    let stack_kb = (STACK_BYTES - STACK_MARGIN_BYTES) / 1024;
    let made = stacker::grow(STACK_BYTES, || call::plpgsql(text, &terminated, stack_kb, TREE_BYTES_MAX));
    // libpg_query's errors come without their SQLSTATE.
    let made = made.map_err(|error| match error.sqlstate.as_str() {
        "00000" => ParseError { sqlstate: SqlState::SYNTAX_ERROR, ..error },
        _ => error,
    })?;
    Ok(call::string(made.result.json).unwrap_or_default().into())
}
