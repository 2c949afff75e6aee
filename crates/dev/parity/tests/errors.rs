//! Compares the errors of both parsers. Our parser must accept every text that PostgreSQL's accepts, and must refuse every other text
//! with the same message and position. The texts are the corpus, and its statements damaged in several ways, by a fixed seed.

use std::sync::atomic::{AtomicUsize, Ordering};

use trunkline_parity::corpus::corpus;
use trunkline_parity::{Statement, compare, oracle};
use trunkline_parser::{Mode, ParseOptions, parse_with};

/// The seed of the damages. It is fixed, so that a failure can be repeated.
const SEED: u64 = 0x7275_6e6b_6c69_6e65;

/// Texts to insert. Each begins or ends something that the scanner or the grammar counts.
const PUT_IN: [&str; 24] = [
    "'", "\"", "$$", "$a$", "/*", "*/", "--", "\\", "(", ")", ";", ",", ".", "e'", "u&'", "x'", "::", ":=",
    "@", "\u{e9}", "\u{1}", " 1a ", " select ", " from ",
];

/// Compares the results of both parsers, and counts the errors.
#[derive(Default)]
struct Answers {
    errors: AtomicUsize,
}

impl Answers {
    /// Checks that both give the same result: a tree, or an error with message and position.
    fn same(&self, sql: &str) -> Result<(), String> {
        self.same_with(sql, 0, ParseOptions::default())
    }

    /// As [`Answers::same`], with options in pg_query's form and in ours.
    fn same_with(&self, sql: &str, bits: i32, options: ParseOptions) -> Result<(), String> {
        let expected = oracle::json_opts(sql, bits).map(drop);
        let got = parse_with(sql, options).map(drop);
        let got = got
            .map_err(|error| (error.message().to_owned(), i32::try_from(error.cursor()).unwrap_or(i32::MAX)));
        let expected = expected.map_err(|error| (error.message, error.cursorpos));
        self.errors.fetch_add(usize::from(expected.is_err()), Ordering::Relaxed);
        if expected == got {
            return Ok(());
        }
        Err(format!("of {sql:?}\nexpected {expected:?}\ngot      {got:?}"))
    }

    /// Checks that at least so many percent of the statements gave errors. Otherwise the damage would have no effect.
    fn have_errors(self, percent_min: usize) {
        let (errors, statements) = (self.errors.into_inner(), corpus().len());
        assert!(
            errors * 100 >= statements * percent_min,
            "only {errors} errors with {statements} statements"
        );
    }
}

/// A pseudo-random number below `limit` for a statement and a kind of damage: splitmix64 over FNV-1a of the text.
fn below(limit: usize, statement: &Statement, mutilation: u64) -> usize {
    let text = statement.sql.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut bits = text.wrapping_add(SEED).wrapping_add(mutilation.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
    usize::try_from((bits ^ (bits >> 31)) % limit).unwrap_or(0)
}

/// The beginning of the character that contains this byte.
fn boundary(sql: &str, byte: usize) -> usize {
    (0..=byte).rev().find(|&at| sql.is_char_boundary(at)).unwrap_or(0)
}

/// The text before and after a character of the statement, and that character.
fn around(statement: &Statement, mutilation: u64) -> (&str, char, &str) {
    let sql = &statement.sql;
    let at = boundary(sql, below(sql.len(), statement, mutilation));
    let (before, after) = sql.split_at(at);
    let mut characters = after.chars();
    let character = characters.next().unwrap_or(' ');
    (before, character, characters.as_str())
}

#[test]
fn errors_of_the_corpus_are_equal() {
    let answers = Answers::default();
    compare("errors", |statement| answers.same(&statement.sql));
    assert!(answers.errors.into_inner() > 100, "PostgreSQL's scripts show errors too");
}

#[test]
fn errors_of_statements_that_end_early_are_equal() {
    let answers = Answers::default();
    compare("errors where the end is missing", |statement| {
        let sql = &statement.sql;
        answers.same(sql.get(..boundary(sql, sql.len() / 2)).unwrap_or_default())?;
        answers.same(around(statement, 1).0)
    });
    answers.have_errors(90);
}

#[test]
fn errors_of_statements_without_one_character_are_equal() {
    let answers = Answers::default();
    compare("errors where a character is missing", |statement| {
        let (before, _, after) = around(statement, 2);
        answers.same(&format!("{before}{after}"))
    });
    answers.have_errors(20);
}

#[test]
fn errors_of_statements_with_an_inserted_text_are_equal() {
    let answers = Answers::default();
    compare("errors where something was put in", |statement| {
        let (before, character, after) = around(statement, 3);
        let put_in = PUT_IN.get(below(PUT_IN.len(), statement, 4)).copied().unwrap_or_default();
        answers.same(&format!("{before}{put_in}{character}{after}"))?;
        answers.same(&format!("{before}{put_in}{after}"))
    });
    answers.have_errors(50);
}

/// PostgreSQL cuts the texts that it quotes in messages. Here these texts have characters beyond ASCII.
#[test]
fn errors_of_texts_beyond_ascii_are_equal() {
    let answers = Answers::default();
    compare("errors in texts beyond ASCII", |statement| {
        let (before, character, after) = around(statement, 5);
        let wide = before.replace(['a', 'e'], "\u{1f418}").replace('i', "\u{e9}");
        answers.same(&format!("{wide}{character}{after}"))
    });
    answers.have_errors(25);
}

#[test]
fn errors_under_other_settings_are_equal() {
    let answers = Answers::default();
    let old_strings = ParseOptions { standard_conforming_strings: false, ..ParseOptions::default() };
    let no_quote = ParseOptions { backslash_quote: false, ..ParseOptions::default() };
    compare("errors by other settings", |statement| {
        let (before, character, after) = around(statement, 6);
        let sql = format!("{before}{character}{after}").replace("''", "\\'");
        answers.same_with(&sql, oracle::DISABLE_STANDARD_CONFORMING_STRINGS, old_strings)?;
        let sql = sql.replace(" '", " e'");
        answers.same_with(&sql, oracle::DISABLE_BACKSLASH_QUOTE, no_quote)
    });
    answers.have_errors(1);
}

/// The grammar's modes for PL/pgSQL: a type, an expression, an assignment.
#[test]
fn errors_in_other_modes_are_equal() {
    let answers = Answers::default();
    compare("errors in other modes", |statement| {
        let sql = &statement.sql;
        let lower = sql.to_ascii_lowercase();
        let expression = lower.find("select ").and_then(|at| sql.get(at + 7..)).unwrap_or(sql);
        let expression = expression.strip_suffix(';').unwrap_or(expression);
        let with = |sql: &str, bits, mode| {
            answers.same_with(sql, bits, ParseOptions { mode, ..ParseOptions::default() })
        };
        with(around(statement, 7).2, 1, Mode::TypeName)?;
        with(expression, 2, Mode::PlpgsqlExpression)?;
        with(&format!("a[1] := {expression}"), 3, Mode::PlpgsqlAssign1)?;
        with(&format!("a.b = {expression}"), 4, Mode::PlpgsqlAssign2)?;
        with(&format!("a.b.c := {expression}"), 5, Mode::PlpgsqlAssign3)
    });
    answers.have_errors(50);
}
