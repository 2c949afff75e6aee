//! Splitting: where each statement of a text begins and ends.

use std::ops::Range;

use crate::error::ParseError;
use crate::lexer::{Lexer, TokenKind, keyword};
use crate::node::RawStmt;
use crate::options::ParseOptions;
use crate::raw::ParsedSql;

/// Where each statement is, in bytes, as the parser tells them apart: without the blanks and comments before it, and
/// without its semicolon. Empty statements are none.
///
/// ```
/// let text = "SELECT 1;; SELECT ';'";
/// let parts: Vec<_> = trunkline_parser::split_with_parser(text)?.into_iter().map(|range| &text[range]).collect();
/// assert_eq!(parts, ["SELECT 1", "SELECT ';'"]);
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// As of [`parse`](crate::parse).
pub fn split_with_parser(text: &str) -> Result<Vec<Range<usize>>, ParseError> {
    Ok(crate::parse(text)?.split(text).collect())
}

impl ParsedSql {
    /// As [`split_with_parser`](crate::split_with_parser) of the text that this tree was parsed from, without parsing
    /// it again. A statement whose place is not in `text`, because that is another one or the place was edited, is
    /// left out.
    pub fn split<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let statements = self.root().nodes().filter_map(|node| node.cast::<RawStmt<'_>>());
        let place = |statement: RawStmt<'_>| {
            let start = usize::try_from(statement.stmt_location()).unwrap_or(0);
            // 0 is to the end.
            let end = match usize::try_from(statement.stmt_len()) {
                Ok(length) if length > 0 => start + length,
                _ => text.len(),
            };
            start..end
        };
        statements.map(place).filter(|range| text.get(range.clone()).is_some())
    }
}

/// Where each statement is, in bytes, as its tokens tell them apart: of texts that do not parse too, without making a
/// tree.
///
/// A part goes from the end of the semicolon before it to its own, with blanks and comments; semicolons in parentheses
/// are not counted, and a part without a key word is not a statement. The body of a function in SQL's own form
/// (`BEGIN ATOMIC ... END`) is split at its semicolons, as pg_query splits it.
///
/// # Errors
/// As of [`scan`](crate::scan).
pub fn split_with_scanner(text: &str) -> Result<Vec<Range<usize>>, ParseError> {
    split_with_scanner_with(text, ParseOptions::default())
}

/// As [`split_with_scanner`], of a text of a session whose `standard_conforming_strings` is that of `options`: it
/// decides where strings end. No other option matters.
///
/// # Errors
/// As of [`scan`](crate::scan).
pub fn split_with_scanner_with(text: &str, options: ParseOptions) -> Result<Vec<Range<usize>>, ParseError> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let mut lexer = Lexer::new(text).standard_conforming_strings(options.standard_conforming_strings);
    let (mut start, mut has_keyword) = (0, false);
    // Below 0 where more are closed than were opened: no semicolon is counted until they are level again.
    let mut open = 0_i64;
    loop {
        let token = lexer.next_token().map_err(|error| ParseError::from_lexer(&error, text))?;
        let Some(token) = token else { break };
        match token.kind {
            TokenKind::Word if has_keyword => {}
            TokenKind::Word => has_keyword = keyword(token.bytes(bytes)).is_some(),
            TokenKind::National => has_keyword = true,
            TokenKind::Symbol => match token.bytes(bytes) {
                b"(" => open += 1,
                b")" => open -= 1,
                b";" if open == 0 => {
                    let end = token.start as usize;
                    if std::mem::take(&mut has_keyword) {
                        parts.push(start..end);
                    }
                    start = end + 1;
                }
                _ => {}
            },
            _ => {}
        }
    }
    if has_keyword && open == 0 {
        parts.push(start..text.len());
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::{ParseOptions, split_with_parser, split_with_scanner, split_with_scanner_with};

    const DEEP: usize = 100_000;

    fn scanned(text: &str) -> Vec<&str> {
        let parts = split_with_scanner(text).expect("it is of tokens");
        parts.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_place_outside_of_the_text_is_left_out() {
        let tree = crate::parse("SELECT 1; SELECT 'é'").expect("it is SQL");
        assert!(tree.split("SELECT 1").eq(std::iter::once(0..8)));
        assert_eq!(tree.split("é").count(), 0);
    }

    #[test]
    fn by_the_scanner() {
        assert_eq!(scanned(" SELECT 1; /* a; */ select 2"), [" SELECT 1", " /* a; */ select 2"]);
        assert_eq!(scanned(";; a; (SELECT 1; SELECT 2);"), [" (SELECT 1; SELECT 2)"]);
        assert_eq!(scanned("SELECT ')'; SELECT 1 ); SELECT 2"), ["SELECT ')'"]);
        for text in ["", ";", "-- select 1", "foo", "/**/;"] {
            assert!(scanned(text).is_empty(), "{text}");
        }
        for text in ["SELECT 'a", "SELECT $a$", "SELECT \"", "/* SELECT"] {
            assert!(split_with_scanner(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_session_decides_where_a_string_ends() {
        let text = r"SELECT 'a\'; SELECT b'; SELECT 1";
        assert!(split_with_scanner(text).is_err());
        let off = ParseOptions { standard_conforming_strings: false, ..ParseOptions::default() };
        assert_eq!(split_with_scanner_with(text, off).expect("it is of tokens"), [0..22, 23..32]);
    }

    #[test]
    fn by_the_parser() {
        let text = " -- a\n SELECT 1 ; ; SELECT 2 -- b";
        let parts: Vec<_> =
            split_with_parser(text).expect("it parses").into_iter().map(|range| &text[range]).collect();
        assert_eq!(parts, ["SELECT 1 ", "SELECT 2 -- b"]);
        assert!(split_with_parser("").is_ok_and(|parts| parts.is_empty()));
        assert!(split_with_parser("SELECT (").is_err());
    }

    #[test]
    fn many_and_deep() {
        let many = "SELECT 1;".repeat(DEEP);
        assert_eq!(scanned(&many).len(), DEEP);
        assert!(split_with_parser(&many).is_ok_and(|parts| parts.len() == DEEP));
        let sum = format!("SELECT 1{}", "+1".repeat(DEEP));
        assert!(split_with_parser(&sum).is_ok_and(|parts| parts.len() == 1));
        assert_eq!(scanned(&format!("SELECT {}{}", "(".repeat(DEEP), ")".repeat(DEEP))).len(), 1);
    }
}
