//! Whether PostgreSQL reads a text in the same way under all settings.

use memchr::{memchr, memchr_iter, memmem};

use super::plain::first_word;

/// What in a statement's text PostgreSQL reads by the settings of the session that parses it.
///
/// Only the server knows the type of a quoted string, and so which settings matter: any string counts. Numbers, true,
/// false and null are read alike everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Literals {
    /// A string in quotes of any kind.
    pub(crate) strings: bool,
    /// A byte above 127, in a name or a string; or a quote after a backslash, which `backslash_quote` allows by the encoding.
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
const SCANNED: [&str; 34] = [
    "abort",
    "alter",
    "analyse",
    "analyze",
    "begin",
    "checkpoint",
    "cluster",
    "comment",
    "commit",
    "copy",
    "deallocate",
    "discard",
    "do",
    "drop",
    "end",
    "execute",
    "grant",
    "listen",
    "load",
    "lock",
    "notify",
    "prepare",
    "reindex",
    "release",
    "reset",
    "revoke",
    "rollback",
    "savepoint",
    "set",
    "show",
    "start",
    "truncate",
    "unlisten",
    "vacuum",
];

/// Parameters by which Parse reads a text. A session's other parameters count where a plan is shared.
pub(crate) const PARSE_SETTINGS: [&str; 13] = [
    "client_encoding",
    "standard_conforming_strings",
    "backslash_quote",
    "escape_string_warning",
    "search_path",
    "transform_null_equals",
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "timezone_abbreviations",
    "array_nulls",
    "lc_monetary",
    "xmloption",
];

impl Literals {
    /// Of a text. A quote in a comment counts too: then fewer sessions share the statement.
    pub(crate) fn of(text: &[u8]) -> Self {
        let dollar_quoted = |at: usize| !text.get(at + 1).is_some_and(u8::is_ascii_digit);
        let strings = memchr(b'\'', text).is_some() || memchr_iter(b'$', text).any(dollar_quoted);
        let word = first_word(text);
        let scanned = SCANNED.iter().any(|scanned| scanned.as_bytes().eq_ignore_ascii_case(word));
        let depth = if scanned { Depth::Scanned } else { Depth::Analysed };
        let letters = !text.is_ascii() || (strings && memmem::find(text, b"\\'").is_some());
        Self { strings, letters, depth }
    }

    /// Whether Parse reads a text with these by any parameter but `search_path` and its like, which decide what names mean.
    pub(crate) fn are_read_by_any(self) -> bool {
        self.strings || self.letters
    }

    /// Whether Parse reads a text with these by the parameter (by canonical name).
    pub(crate) fn are_read_by(self, parameter: &str) -> bool {
        PARSE_SETTINGS.contains(&parameter) && self.depend_on(parameter)
    }

    /// Whether the parameter (by canonical name) decides what a text with these means, or what its plan gives.
    ///
    /// `search_path` decides what names mean; `transform_null_equals` what `= null` does (parse_expr.c). So may whatever is
    /// not known to be of no account. Strings:
    /// `standard_conforming_strings`, `backslash_quote` and `escape_string_warning` in the lexer (scan.l); `DateStyle`,
    /// `IntervalStyle`, `TimeZone`, `timezone_abbreviations`, `array_nulls`, `lc_monetary` and `xmloption` in the input
    /// functions of types, which run when a constant is parsed (datetime.c, arrayfuncs.c, cash.c, xml.c).
    pub(crate) fn depend_on(self, parameter: &str) -> bool {
        match parameter {
            "client_encoding" => self.letters,
            // The last decides who is told of a warning: what one session does not hear is not known of the statement.
            "standard_conforming_strings"
            | "backslash_quote"
            | "escape_string_warning"
            | "client_min_messages" => self.strings,
            _ if self.depth == Depth::Scanned => false,
            "DateStyle"
            | "IntervalStyle"
            | "TimeZone"
            | "timezone_abbreviations"
            | "array_nulls"
            | "lc_monetary"
            | "xmloption" => self.strings,
            // A plan that sessions share has constants in it that were computed under one's settings: output functions
            // that PostgreSQL takes for immutable read `extra_float_digits`, `bytea_output` and `xmlbinary`.
            name => !is_harmless(name),
        }
    }
}

/// Parameters that neither decide what a text means nor what its plan gives: limits of time and memory, costs, messages,
/// rights (which PostgreSQL checks when a statement is run).
const HARMLESS: [&str; 24] = [
    "application_name",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "effective_cache_size",
    "hash_mem_multiplier",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "lock_timeout",
    "maintenance_work_mem",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "plan_cache_mode",
    "random_page_cost",
    "role",
    "row_security",
    "scram_iterations",
    "seq_page_cost",
    "session_authorization",
    "statement_timeout",
    "synchronous_commit",
    "temp_buffers",
    "transaction_timeout",
    "work_mem",
];
/// What the names of more such parameters begin with.
const HARMLESS_PREFIXES: [&str; 5] = ["enable_", "geqo", "jit", "log_", "tcp_"];

fn is_harmless(parameter: &str) -> bool {
    HARMLESS.contains(&parameter) || HARMLESS_PREFIXES.iter().any(|prefix| parameter.starts_with(prefix))
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
        assert_eq!(of(r"select E'it\'s'"), (true, true));
    }

    #[test]
    fn what_is_only_scanned_depends_on_what_the_lexer_reads_by() {
        let depends = |text: &str, parameter: &str| Literals::of(text.as_bytes()).depend_on(parameter);
        assert!(!depends("rollback", "my.own") && !depends("/* c */ -- d\n discard all", "search_path"));
        for text in ["set local timezone = 'CET'", " ALTER SYSTEM SET x = 'y'", "copy t from 'f'"] {
            assert!(depends(text, "standard_conforming_strings"), "{text}");
            assert!(!depends(text, "DateStyle") && !depends(text, "search_path"), "{text}");
        }
        for (name, counts) in
            [("extra_float_digits", true), ("my.own", true), ("work_mem", false), ("enable_sort", false)]
        {
            assert_eq!(depends("select $1", name), counts, "{name}");
        }
        for text in
            ["select 'a'", "explain select 'a'", "create table t as select 'a'", "(select 'a')", "settle 'a'"]
        {
            assert!(depends(text, "DateStyle") && depends(text, "search_path"), "{text}");
        }
    }
}
