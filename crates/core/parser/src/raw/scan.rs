//! PostgreSQL's own scanner.

use std::slice;

use super::call;
use crate::error::ParseError;
use crate::lexer::ScanToken;
use crate::options::ParseOptions;

/// The tokens of a text, comments among them, without the key words that they are.
pub(crate) fn scan(text: &str, options: ParseOptions) -> Result<Vec<ScanToken>, ParseError> {
    let made = call::scan(text, options)?;
    if made.result.tokens.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: C's array of this many tokens, all written, which lies in the arena that `made` owns.
    let tokens = unsafe { slice::from_raw_parts(made.result.tokens, made.result.token_count) };
    let token = |token: &pg_query_sys::CallToken| ScanToken {
        start: u32::try_from(token.start).unwrap_or(0),
        end: u32::try_from(token.end).unwrap_or(0),
        number: u16::try_from(token.token).unwrap_or(0),
        keyword: None,
    };
    Ok(tokens.iter().map(token).collect())
}
