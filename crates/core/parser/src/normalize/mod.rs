//! Normalizing: a statement with its constants replaced by parameters.
//!
//! The text is libpg_query's `pg_query_normalize`, number by number: constants are numbered as its walk meets them, not as
//! they stand in the text; types keep theirs; `GROUP BY 1` and `ORDER BY 1` stay, and an expression that is grouped by has
//! the parameters it has in the SELECT list. The places come from the tree, the lengths from our own lexer, which reads the
//! constants alone.

mod collect;
mod select;

use crate::error::ParseError;
use crate::lexer::Lexer;
use crate::options::ParseOptions;
use crate::pg_qsort;
use crate::raw::ParsedSql;
use collect::{Collector, Constants};

/// A parameter in the text: `$` and at most ten digits.
const PARAMETER_BYTES_USUAL: usize = 4;

/// The text with its constants replaced by parameters (`$1`), numbered on from those it has.
///
/// ```
/// let text = trunkline_parser::normalize("SELECT a FROM t WHERE b = 'x' AND c = $1 LIMIT 10")?;
/// assert_eq!(text, "SELECT a FROM t WHERE b = $2 AND c = $1 LIMIT $3");
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// The same as pg_query's, except for constants of several tokens (`-(-3)`, `- - 3`): those go as a whole, where
/// pg_query leaves their end in the text.
///
/// # Errors
/// As of [`parse`](crate::parse).
pub fn normalize(text: &str) -> Result<String, ParseError> {
    Ok(crate::parse(text)?.normalize(text))
}

/// As [`normalize`], but queries and statements that change rows keep their constants: what is left are passwords,
/// connection strings and options of other statements.
///
/// ```
/// let text = trunkline_parser::normalize_utility("CREATE ROLE a PASSWORD 'b'; SELECT 'c'")?;
/// assert_eq!(text, "CREATE ROLE a PASSWORD $1; SELECT 'c'");
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// As of [`parse`](crate::parse).
pub fn normalize_utility(text: &str) -> Result<String, ParseError> {
    Ok(crate::parse(text)?.normalize_utility(text))
}

impl ParsedSql {
    /// As [`normalize`](crate::normalize) of the text that this tree was parsed from, without parsing it again. Of another
    /// text the result is of no use.
    pub fn normalize(&self, text: &str) -> String {
        self.normalize_with(text, ParseOptions::default())
    }

    /// As [`normalize`](Self::normalize), where the tree was parsed with these options.
    pub fn normalize_with(&self, text: &str, options: ParseOptions) -> String {
        replaced(text, Collector::collect(self.root(), false), options)
    }

    /// As [`normalize_utility`](crate::normalize_utility) of the text that this tree was parsed from.
    pub fn normalize_utility(&self, text: &str) -> String {
        self.normalize_utility_with(text, ParseOptions::default())
    }

    /// As [`normalize_utility`](Self::normalize_utility), where the tree was parsed with these options.
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
        // A place that was met twice is one constant; one inside of what was replaced (`- - 1`) is gone.
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

/// Where the constant ends that begins at `start`. It is a token. If that is a minus, the number after it belongs to
/// the constant, after any more minuses and parentheses of which the grammar has made one constant (`-(-3)`):
/// libpg_query would leave its end in the text. None after the last token.
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
