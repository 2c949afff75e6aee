//! Which settings decide how PostgreSQL parses a text.

use memchr::{memchr, memchr_iter, memmem};

use super::plain::first_word;

/// The parts of a statement's text whose meaning depends on the settings of the session that parses it.
///
/// Only the server knows the type of a quoted string, and so which settings matter to it. So any string counts. Numbers,
/// true, false and null mean the same under all settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Literals {
    /// Whether it has a string in quotes of any kind.
    pub(crate) strings: bool,
    /// Whether its meaning depends on the client's encoding. It has a byte above 127 in a name or a string, or a quote
    /// after a backslash (`backslash_quote` allows that only in some encodings).
    pub(crate) encoding_dependent: bool,
    /// How much of it a Parse evaluates.
    pub(crate) depth: Depth,
}

/// What PostgreSQL does with a text when it gets it in a Parse message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Depth {
    /// It looks up names, and converts constants to their types.
    #[default]
    Analysed,
    /// It only checks the grammar. The rest comes when the command runs.
    Scanned,
}

/// First words of commands of which Parse only checks the grammar (analyze.c, `analyze_requires_snapshot` and
/// `transformStmt`). CREATE and EXPLAIN are missing, because Parse analyses a query in them.
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

/// Parameters that decide how Parse understands a text. Other parameters count only when clients share a plan.
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
    /// Finds the literals of a text. A quote in a comment counts too; then fewer sessions share the statement.
    pub(crate) fn of(text: &[u8]) -> Self {
        let dollar_quoted = |at: usize| !text.get(at + 1).is_some_and(u8::is_ascii_digit);
        let strings = memchr(b'\'', text).is_some() || memchr_iter(b'$', text).any(dollar_quoted);
        let word = first_word(text);
        let scanned = SCANNED.iter().any(|scanned| scanned.as_bytes().eq_ignore_ascii_case(word));
        let depth = if scanned { Depth::Scanned } else { Depth::Analysed };
        let encoding_dependent = !text.is_ascii() || (strings && memmem::find(text, b"\\'").is_some());
        Self { strings, encoding_dependent, depth }
    }

    /// Whether a parameter decides how Parse understands the literals. Parameters that decide what names mean, such as
    /// `search_path`, do not count.
    pub(crate) fn parse_depends_on_any(self) -> bool {
        self.strings || self.encoding_dependent
    }

    /// Whether the parameter (by its canonical name) decides how Parse understands a text with these literals.
    pub(crate) fn parse_depends_on(self, parameter: &str) -> bool {
        PARSE_SETTINGS.contains(&parameter) && self.depend_on(parameter)
    }

    /// Whether the parameter (by its canonical name) decides what a text with these literals means, or what its plan
    /// returns.
    ///
    /// `search_path` decides what names mean, and `transform_null_equals` what `= null` does (parse_expr.c). We assume
    /// the same of every parameter that is not known to be harmless. For strings, the lexer reads
    /// `standard_conforming_strings`, `backslash_quote` and `escape_string_warning` (scan.l). The input functions of
    /// types run when a constant is parsed, and read `DateStyle`, `IntervalStyle`, `TimeZone`,
    /// `timezone_abbreviations`, `array_nulls`, `lc_monetary` and `xmloption` (datetime.c, arrayfuncs.c, cash.c,
    /// xml.c).
    pub(crate) fn depend_on(self, parameter: &str) -> bool {
        match parameter {
            "client_encoding" => self.encoding_dependent,
            // `client_min_messages` decides who gets a warning about a string. If a session with a higher level parsed the
            // statement first, we would not learn that the statement has a warning.
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

/// Parameters that decide neither what a text means nor what its plan returns: limits of time and memory, costs,
/// messages, and rights (PostgreSQL checks these when a statement runs).
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
/// The beginnings of the names of more such parameters.
const HARMLESS_PREFIXES: [&str; 5] = ["enable_", "geqo", "jit", "log_", "tcp_"];

fn is_harmless(parameter: &str) -> bool {
    HARMLESS.contains(&parameter) || HARMLESS_PREFIXES.iter().any(|prefix| parameter.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_letters_are_found() {
        let of = |text: &str| {
            let literals = Literals::of(text.as_bytes());
            (literals.strings, literals.encoding_dependent)
        };
        assert_eq!(of("select $1, 1.5, true, null from t where a = $12"), (false, false));
        for text in ["select 'a'", "select $$a$$", "select $t$a$t$", "select E'a'", "select U&'a'"] {
            assert_eq!(of(text), (true, false), "{text}");
        }
        assert_eq!(of("select a as \"é\""), (false, true));
        assert_eq!(of(r"select E'it\'s'"), (true, true));
    }

    #[test]
    fn scanned_commands_depend_only_on_the_lexers_parameters() {
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
