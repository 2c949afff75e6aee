//! Truncating: SQL of at most a given number of bytes, with `...` for what is left out.
//!
//! The text is libpg_query's, of its C code: its Rust crate shortens clauses of the same length in another order.
//! There, clauses are left out one by one, deepest first and of those the longest first, and the whole is written
//! again each time; here it is written once, with marks where clauses begin and end.

mod clause;
mod shorten;

use crate::error::{ParseError, SqlState};
use crate::raw::ParsedSql;
use shorten::Shortening;

/// What stands for what is left out.
const ELLIPSIS: &str = "...";

/// The statements of a text as SQL in one line, clauses left out until it has at most `bytes_max` bytes: SELECT lists,
/// conditions, rows of VALUES, columns of INSERT, queries of WITH. A text that is still too long then is cut, to
/// `bytes_max` characters.
///
/// ```
/// let text = "WITH c AS (SELECT a FROM b WHERE d = 1) SELECT e, f, g FROM c";
/// assert_eq!(trunkline_parser::truncate(text, 40)?, "WITH c AS (...) SELECT e, f, g FROM c");
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// As of [`parse`](crate::parse); and for what cannot be written as SQL.
pub fn truncate(text: &str, bytes_max: usize) -> Result<String, ParseError> {
    crate::parse(text)?.truncate(bytes_max)
}

impl ParsedSql {
    /// As [`truncate`](crate::truncate) of the text that this tree was parsed from.
    ///
    /// # Errors
    /// For what cannot be written as SQL.
    pub fn truncate(&self, bytes_max: usize) -> Result<String, ParseError> {
        let marked = self.deparse_marked();
        let (text, marks) =
            marked.map_err(|error| ParseError::new(SqlState::INTERNAL_ERROR, error.to_string(), None))?;
        let mut shortening = Shortening::new(&text, &marks);
        if shortening.length() > bytes_max {
            shortening.leave_out(&clause::collect(self.root()), bytes_max);
        }
        let is_short = shortening.length() <= bytes_max;
        let mut text = shortening.text();
        if !is_short {
            cut(&mut text, bytes_max);
        }
        Ok(text)
    }
}

/// Cuts a text to this many characters, the ellipsis among them.
fn cut(text: &mut String, characters_max: usize) {
    if text.char_indices().nth(characters_max).is_none() {
        return;
    }
    let kept = characters_max.saturating_sub(ELLIPSIS.len());
    let end = text.char_indices().nth(kept).map_or(text.len(), |(at, _)| at);
    text.truncate(end);
    text.push_str(ELLIPSIS);
}

#[cfg(test)]
mod tests;
