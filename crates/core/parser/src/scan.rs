//! Scanning: a text as the tokens of PostgreSQL's grammar, comments among them.

use crate::error::ParseError;
use crate::lexer::{Lexer, ScanToken, keyword};
use crate::options::ParseOptions;
use crate::raw;

/// How many bytes a token and the space before it have, mostly: room is made by it.
const TOKEN_BYTES_USUAL: usize = 4;
/// For how many tokens room is made at once, at most.
const TOKENS_AT_ONCE_MAX: usize = 1 << 16;

/// The tokens of a text, comments among them: equal to pg_query's, read once and without C.
///
/// A text need not be SQL that parses, nor whole: bytes that are not a token are an error, and so is something that
/// must be closed and is not.
///
/// ```
/// let tokens = trunkline_parser::scan("SELECT 'a' -- b")?;
/// let names: Vec<_> = tokens.iter().map(|token| token.to_string()).collect();
/// assert_eq!(names, ["SELECT", "SCONST", "SQL_COMMENT"]);
/// # Ok::<(), trunkline_parser::ParseError>(())
/// ```
///
/// # Errors
/// What PostgreSQL says is wrong with the letters of the text.
pub fn scan(text: &str) -> Result<Vec<ScanToken>, ParseError> {
    scan_with(text, ParseOptions::default())
}

/// As [`scan`], of a text of a session whose settings are these. What the text is, and how much a tree may take, do not
/// matter.
///
/// # Errors
/// As of [`scan`].
pub fn scan_with(text: &str, options: ParseOptions) -> Result<Vec<ScanToken>, ParseError> {
    if !options.backslash_quote {
        return by_c(text, options);
    }
    let room = (text.len() / TOKEN_BYTES_USUAL + 1).min(TOKENS_AT_ONCE_MAX);
    let mut tokens = Vec::with_capacity(room);
    let mut lexer =
        Lexer::new(text).comments(true).standard_conforming_strings(options.standard_conforming_strings);
    while let Some(token) = lexer.next_token().map_err(|error| ParseError::from_lexer(&error, text))? {
        tokens.push(token.scan_token(text.as_bytes()));
    }
    Ok(tokens)
}

/// As [`scan_with`] by PostgreSQL's own scanner: ours is compared with it.
///
/// # Errors
/// As of [`scan`].
#[cfg(feature = "oracle")]
pub fn scan_by_c(text: &str, options: ParseOptions) -> Result<Vec<ScanToken>, ParseError> {
    by_c(text, options)
}

/// PostgreSQL's own scanner, for the one setting that ours does not know.
fn by_c(text: &str, options: ParseOptions) -> Result<Vec<ScanToken>, ParseError> {
    let mut tokens = raw::scan(text, options)?;
    for token in &mut tokens {
        let word = text.get(token.start as usize..token.end as usize).unwrap_or_default().as_bytes();
        // The N of N'...' is the key word NCHAR.
        let word = if word.eq_ignore_ascii_case(b"n") { b"nchar" } else { word };
        token.keyword = keyword(word).filter(|keyword| keyword.number == token.number);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEEP: usize = 100_000;

    #[test]
    fn both_scanners_say_the_same() {
        let off = ParseOptions { backslash_quote: false, ..ParseOptions::default() };
        for text in [
            "",
            "select N'a', n, \"select\" /* b */ -- c\n;$1+2.5<>:=",
            "SELECT 'a\\', E'\\n' 'b",
            "1a",
            "\"\"",
        ] {
            assert_eq!(scan(text), scan_with(text, off), "{text}");
        }
        assert!(scan("E'\\''").is_ok());
        assert!(
            scan_with("E'\\''", off).is_err_and(|error| error.message().starts_with("unsafe use of \\'"))
        );
    }

    #[test]
    fn strings_that_escape_or_not() {
        let off = ParseOptions { standard_conforming_strings: false, ..ParseOptions::default() };
        assert_eq!(scan("'a\\'").map(|tokens| tokens.len()), Ok(1));
        assert!(scan_with("'a\\'", off).is_err());
        assert!(scan_with("U&'a'", off).is_err());
    }

    #[test]
    fn what_is_not_closed_is_an_error_with_its_place() {
        for text in ["'a", "\"a", "$$a", "$a$ $", "/* /* */", "B'0", "x'1", "E'\\'", "U&'a", "U&\"a"] {
            let error = scan(&format!("ä {text}")).expect_err(text);
            assert!(error.message().starts_with("unterminated"), "{error}");
            assert_eq!((error.cursor(), error.position()), (3, Some(3)), "{text}");
        }
        assert!(scan("a\0b").is_err());
    }

    /// PostgreSQL does not tell; found by the fuzz target `sql_key`.
    #[test]
    fn bytes_that_escapes_make_have_no_place() {
        let error = scan("SELECT E'\\x82'").expect_err("it is no UTF-8");
        assert_eq!((error.cursor(), error.position()), (0, None), "{error}");
    }

    #[test]
    fn deep_and_long() {
        assert_eq!(scan(&"(".repeat(DEEP)).map(|tokens| tokens.len()), Ok(DEEP));
        assert_eq!(scan(&"1,".repeat(10 * DEEP)).map(|tokens| tokens.len()), Ok(20 * DEEP));
        let comments = format!("{}{}", "/*".repeat(DEEP), "*/".repeat(DEEP));
        assert_eq!(scan(&comments).map(|tokens| tokens.len()), Ok(1));
        assert_eq!(scan(" \n").map(|tokens| tokens.len()), Ok(0));
    }
}
