//! Compares our lexer with PostgreSQL's: both must give the same tokens and errors for every text.

mod nasty;

use nasty::Nasty;
use trunkline_parity::oracle;
use trunkline_parity::{compare, same_value};
use trunkline_parser::lexer::{LexError, LexErrorKind, Lexer, keywords, scan};

/// The number of texts of [`nasty_texts`]. `LEXER_TEXTS` sets another number.
const NASTY_TEXTS: u64 = 40_000;

#[test]
fn regression_scripts() {
    compare("tokens", |statement| check(&statement.sql));
}

/// Every beginning of a statement. Most of them end inside a token.
#[test]
fn regression_scripts_cut_short() {
    compare("tokens of half a statement", |statement| {
        let half = statement.sql.len() / 2;
        let cut = (0..=half).rev().find(|at| statement.sql.is_char_boundary(*at)).unwrap_or(0);
        check(&statement.sql[..cut])?;
        check(&statement.sql[cut..])
    });
}

#[test]
fn nasty_texts() {
    let texts = std::env::var("LEXER_TEXTS").map_or(NASTY_TEXTS, |texts| texts.parse().expect("a number"));
    let mut failures = Vec::new();
    for seed in 0..texts {
        let text = Nasty::new(seed).text();
        if let Err(difference) = check(&text) {
            failures.push(format!("seed {seed}: {text:?}\n{difference}"));
        }
    }
    oracle::restore_standard_error();
    assert!(failures.is_empty(), "{} of {texts}, first: {}", failures.len(), failures[0]);
}

/// With standard_conforming_strings off. Only pg_query's parser has this option, and it reports an error of the lexer only if the text
/// before it is right.
#[test]
fn strings_with_backslashes_everywhere() {
    let mut equal_errors = 0;
    for seed in 0..NASTY_TEXTS / 4 {
        let text = format!("SELECT '{}'", Nasty::new(seed).text());
        let parsed = oracle::json_opts(&text, oracle::DISABLE_STANDARD_CONFORMING_STRINGS);
        let lexed: Result<Vec<_>, _> = Lexer::new(&text).standard_conforming_strings(false).collect();
        match (&parsed, &lexed) {
            (Err(error), _) if error.message.starts_with("syntax error") || error.is_assertion() => {}
            (Err(expected), Err(got)) => {
                assert_eq!(expected.message, got.message(&text), "{text:?}");
                equal_errors += 1;
            }
            (Ok(_), Ok(_)) => {}
            _ => panic!("{text:?}\nexpected {parsed:?}\ngot      {lexed:?}"),
        }
    }
    oracle::restore_standard_error();
    assert!(equal_errors > 100, "{equal_errors}");
}

#[test]
fn all_key_words() {
    for keyword in keywords() {
        for text in [keyword.name.to_owned(), keyword.name.to_uppercase(), format!("{}1", keyword.name)] {
            check(&text).unwrap_or_else(|difference| panic!("{text}: {difference}"));
        }
    }
}

/// Checks that `scan` gives the same result for `text` as pg_query.
fn check(text: &str) -> Result<(), String> {
    let expected = oracle::scan(text).map_err(|error| (error.message, error.cursorpos)).map(|tokens| {
        let tokens = tokens.into_iter().map(|token| Seen {
            place: (token.start, token.end),
            number: token.token,
            name: token.name.to_owned(),
            keyword_kind: token.keyword_kind,
        });
        tokens.collect::<Vec<_>>()
    });
    let got = scan(text).map_err(|error| (error.message(text), cursor(text, &error))).map(|tokens| {
        let tokens = tokens.into_iter().map(|token| Seen {
            place: (token.start as usize, token.end as usize),
            number: i32::from(token.number),
            name: token.to_string(),
            keyword_kind: token.keyword.map_or(0, |keyword| keyword.kind as i32),
        });
        tokens.collect::<Vec<_>>()
    });
    same_value(&expected, &got)
}

#[derive(Debug)]
struct Seen {
    place: (usize, usize),
    number: i32,
    name: String,
    keyword_kind: i32,
}

impl PartialEq for Seen {
    /// pg_query has no names for characters that SQL does not use.
    fn eq(&self, other: &Self) -> bool {
        (self.place, self.number, self.keyword_kind) == (other.place, other.number, other.keyword_kind)
            && (self.name.is_empty() || self.name == other.name)
    }
}

/// The position of an error as PostgreSQL counts it: in characters from 1; 0 for none.
fn cursor(text: &str, error: &LexError) -> i32 {
    if matches!(error.kind, LexErrorKind::InvalidBytes(..)) {
        return 0;
    }
    let before = &text.as_bytes()[..error.position as usize];
    1 + before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as i32
}
