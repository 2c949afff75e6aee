//! Whether PostgreSQL reads a text in the same way under all settings.

use memchr::{memchr, memchr_iter};

/// What in a statement's text PostgreSQL reads by the settings of the session that parses it.
///
/// Which type a quoted string has, and so which settings its reading depends on, only the server knows: any string
/// counts. Numbers, true, false and null are read alike everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Literals {
    /// A string in quotes of any kind.
    pub(crate) strings: bool,
    /// A byte above 127, in a name or a string.
    pub(crate) letters: bool,
    /// How far Parse goes with it.
    pub(crate) depth: Depth,
}

/// What PostgreSQL does with a text when it gets it by Parse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Depth {
    /// It looks names up and reads constants by their types.
    #[default]
    Analysed,
    /// It reads the words. The rest comes when the command is run.
    Scanned,
}

/// Commands that Parse does no more than scan (analyze.c, `analyze_requires_snapshot` and `transformStmt`; CREATE and
/// EXPLAIN may have a query in them that is analysed).
const SCANNED: [&str; 26] = [
    "set",
    "reset",
    "show",
    "alter",
    "drop",
    "vacuum",
    "analyze",
    "analyse",
    "reindex",
    "cluster",
    "checkpoint",
    "comment",
    "copy",
    "do",
    "grant",
    "revoke",
    "listen",
    "notify",
    "unlisten",
    "load",
    "lock",
    "truncate",
    "prepare",
    "execute",
    "deallocate",
    "discard",
];

impl Literals {
    /// Of a text. A quote in a comment counts too: that costs sharing and nothing else.
    pub(crate) fn of(text: &[u8]) -> Self {
        let dollar_quoted = |at: usize| !text.get(at + 1).is_some_and(u8::is_ascii_digit);
        let strings = memchr(b'\'', text).is_some() || memchr_iter(b'$', text).any(dollar_quoted);
        let start = text.trim_ascii_start();
        let length = start.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(start.len());
        let scanned = SCANNED.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(&start[..length]));
        let depth = if scanned { Depth::Scanned } else { Depth::Analysed };
        Self { strings, letters: !text.is_ascii(), depth }
    }

    /// Whether the parameter (by canonical name) decides what a text with these means.
    ///
    /// `search_path` decides what names mean; `transform_null_equals` what `= null` does (parse_expr.c). Strings:
    /// `standard_conforming_strings`, `backslash_quote` and `escape_string_warning` in the lexer (scan.l); `DateStyle`,
    /// `IntervalStyle`, `TimeZone`, `timezone_abbreviations`, `array_nulls`, `lc_monetary` and `xmloption` in the input
    /// functions of types, which run when a constant is parsed (datetime.c, arrayfuncs.c, cash.c, xml.c).
    pub(crate) fn depend_on(self, parameter: &str) -> bool {
        match parameter {
            "client_encoding" => self.letters,
            "standard_conforming_strings" | "backslash_quote" | "escape_string_warning" => self.strings,
            _ if self.depth == Depth::Scanned => false,
            "search_path" | "transform_null_equals" => true,
            "DateStyle"
            | "IntervalStyle"
            | "TimeZone"
            | "timezone_abbreviations"
            | "array_nulls"
            | "lc_monetary"
            | "xmloption" => self.strings,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_letters_are_seen() {
        let of = |text: &str| {
            let literals = Literals::of(text.as_bytes());
            (literals.strings, literals.letters)
        };
        assert_eq!(of("select $1, 1.5, true, null from t where a = $12"), (false, false));
        for text in ["select 'a'", "select $$a$$", "select $t$a$t$", "select E'a'", "select U&'a'"] {
            assert_eq!(of(text), (true, false), "{text}");
        }
        assert_eq!(of("select a as \"é\""), (false, true));
    }

    #[test]
    fn what_is_only_scanned_depends_on_what_the_lexer_reads_by() {
        let depends = |text: &str, parameter: &str| Literals::of(text.as_bytes()).depend_on(parameter);
        for text in ["set local timezone = 'CET'", " ALTER SYSTEM SET x = 'y'", "copy t from 'f'"] {
            assert!(depends(text, "standard_conforming_strings"), "{text}");
            assert!(!depends(text, "DateStyle") && !depends(text, "search_path"), "{text}");
        }
        for text in
            ["select 'a'", "explain select 'a'", "create table t as select 'a'", "(select 'a')", "settle 'a'"]
        {
            assert!(depends(text, "DateStyle") && depends(text, "search_path"), "{text}");
        }
    }
}
