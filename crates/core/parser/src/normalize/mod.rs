//! Normalizes statements: replaces their constants by parameters.
//!
//! The result is the same as of libpg_query's `pg_query_normalize`. Constants are numbered in the order of its walk
//! over the tree, not in the order of the text. Constants in types stay, and so do `GROUP BY 1` and `ORDER BY 1`. An
//! expression in GROUP BY gets the same parameters as in the SELECT list. The tree gives the locations, and this
//! crate's lexer the lengths; it reads only the constants.

mod collect;
mod select;

use crate::error::ParseError;
use crate::lexer::Lexer;
use crate::options::ParseOptions;
use crate::pg_qsort;
use crate::raw::ParsedSql;
use collect::{Collector, Constants};

/// The usual length of a parameter in the text, which is `$` and at most ten digits.
const PARAMETER_BYTES_USUAL: usize = 4;

/// The text with its constants replaced by parameters (`$1`). Their numbers continue after those in the text.
///
/// ```
/// let text = trunkline_parser::normalize("SELECT a FROM t WHERE b = 'x' AND c = $1 LIMIT 10")?;
/// assert_eq!(text, "SELECT a FROM t WHERE b = $2 AND c = $1 LIMIT $3");
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// The result is the same as pg_query's, except for constants of several tokens (`-(-3)`, `- - 3`). These are replaced
/// completely, while pg_query leaves their end in the text.
///
/// # Errors
/// As for [`parse`](crate::parse).
pub fn normalize(text: &str) -> Result<String, ParseError> {
    Ok(crate::parse(text)?.normalize(text))
}

/// As [`normalize`], but only for utility statements: it replaces passwords, connection strings and options there.
/// Queries and statements that change rows keep their constants.
///
/// ```
/// let text = trunkline_parser::normalize_utility("CREATE ROLE a PASSWORD 'b'; SELECT 'c'")?;
/// assert_eq!(text, "CREATE ROLE a PASSWORD $1; SELECT 'c'");
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// As for [`parse`](crate::parse).
pub fn normalize_utility(text: &str) -> Result<String, ParseError> {
    Ok(crate::parse(text)?.normalize_utility(text))
}

impl ParsedSql {
    /// As [`normalize`](crate::normalize), without parsing again. `text` must be the text from which this tree was
    /// parsed; for another text the result is useless.
    pub fn normalize(&self, text: &str) -> String {
        self.normalize_with(text, ParseOptions::default())
    }

    /// As [`normalize`](Self::normalize), for a tree that was parsed with these options.
    pub fn normalize_with(&self, text: &str, options: ParseOptions) -> String {
        replaced(text, Collector::collect(self.root(), false), options)
    }

    /// As [`normalize_utility`](crate::normalize_utility), for the text from which this tree was parsed.
    pub fn normalize_utility(&self, text: &str) -> String {
        self.normalize_utility_with(text, ParseOptions::default())
    }

    /// As [`normalize_utility`](Self::normalize_utility), for a tree that was parsed with these options.
    pub fn normalize_utility_with(&self, text: &str, options: ParseOptions) -> String {
        replaced(text, Collector::collect(self.root(), true), options)
    }
}

/// The text with a parameter in place of each constant.
fn replaced(text: &str, mut constants: Constants, options: ParseOptions) -> String {
    pg_qsort::sort(&mut constants.found, |one, other| one.location.cmp(&other.location));
    let mut out = String::with_capacity(text.len() + constants.found.len() * PARAMETER_BYTES_USUAL);
    let mut lexer = Lexer::new(text).standard_conforming_strings(options.standard_conforming_strings);
    let mut number = itoa::Buffer::new();
    let mut copied = 0;
    let mut last = None;
    for constant in &constants.found {
        let start = constant.location as usize;
        // The same location twice is one constant. A constant inside a replaced one (`- - 1`) is already replaced.
        if last == Some(start) || start < copied {
            continue;
        }
        last = Some(start);
        let Some(end) = constant_end(&mut lexer, text, start) else { break };
        let Some(before) = text.get(copied..start) else { continue };
        out.push_str(before);
        out.push('$');
        out.push_str(number.format(constants.number(constant.parameter)));
        copied = end;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// The end of the constant that begins at `start`. A constant is one token. If that token is a minus, the constant
/// also has the number after it, with any further minuses and parentheses, because the grammar makes one constant of
/// them (`-(-3)`). libpg_query would leave the rest of such a constant in the text. `None` after the last token.
fn constant_end(lexer: &mut Lexer<'_>, text: &str, start: usize) -> Option<usize> {
    lexer.resume(start);
    let mut token = lexer.next_token().ok()??;
    if text.as_bytes().get(start) == Some(&b'-') {
        let mut open = 0_usize;
        loop {
            token = lexer.next_token().ok()??;
            match text.as_bytes().get(token.start as usize) {
                Some(b'(') => open += 1,
                Some(b'-') => {}
                _ => break,
            }
        }
        for _ in 0..open {
            token = lexer.next_token().ok()??;
        }
    }
    Some(token.end as usize)
}

#[cfg(test)]
mod tests;
