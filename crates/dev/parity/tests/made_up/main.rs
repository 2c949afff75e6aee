//! Tests with random statements: combinations of tokens from PostgreSQL's regression scripts, and sentences of PostgreSQL's grammar.
//! The seed is fixed. For a longer search, in a release build:
//!
//! `TRUNKLINE_MADE_UP=20000000 TRUNKLINE_SEED=7 cargo test --release -p trunkline-parity --test made_up`

mod deparse;
#[path = "../deparse_more/faithful.rs"]
mod faithful;
mod grammar;
mod key;
mod mutator;
mod pg_query;
mod random;
mod sentence;

use std::sync::atomic::{AtomicU64, Ordering};

use mutator::Mutator;
use sentence::Sentences;
use trunkline_parity::{Statement, compare_in};

/// How many texts are tried. `TRUNKLINE_MADE_UP` sets another number.
const TEXTS: u64 = 40_000;
/// How many texts are made at once.
const BATCH: u64 = 40_000;
/// At least one of so many texts must count (parse, for example). Otherwise the test would prove nothing.
const COUNTED_SHARE_MIN: u64 = 200;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

fn seed() -> u64 {
    setting("TRUNKLINE_SEED").unwrap_or(1)
}

/// Runs `check` on many texts. It returns whether the text counts, or an error.
fn search(name: &str, mut next: impl FnMut() -> Statement, check: fn(&str) -> Result<bool, String>) {
    let texts = setting("TRUNKLINE_MADE_UP").unwrap_or(TEXTS);
    let counted = AtomicU64::new(0);
    let mut left = texts;
    while left > 0 {
        let batch: Vec<Statement> = (0..left.min(BATCH)).map(|_| next()).collect();
        left -= batch.len() as u64;
        compare_in(name, &batch, |statement| {
            counted.fetch_add(u64::from(check(&statement.sql)?), Ordering::Relaxed);
            Ok(())
        });
    }
    let counted = counted.into_inner();
    assert!(counted * COUNTED_SHARE_MIN >= texts, "only {counted} of {texts} counted");
}

#[test]
fn combined_statements_are_written_with_the_same_tree() {
    let mut mutator = Mutator::new(seed());
    search("deparse of crossed statements", || mutator.statement(), deparse::check);
}

#[test]
fn sentences_of_the_grammar_are_written_with_the_same_tree() {
    let mut sentences = Sentences::new(seed());
    search("deparse of sentences of the grammar", || sentences.statement(), deparse::check);
}

#[test]
fn pg_query_has_the_same_results_for_sentences() {
    let mut sentences = Sentences::new(seed());
    search("pg_query on sentences of the grammar", || sentences.statement(), pg_query::check);
}

#[test]
fn combined_statements_with_the_same_key_have_the_same_fingerprint() {
    let mut mutator = Mutator::new(seed());
    search("keys of crossed statements", || mutator.statement(), key::check);
}

#[test]
fn sentences_with_the_same_key_have_the_same_fingerprint() {
    let mut sentences = Sentences::new(seed());
    search("keys of sentences of the grammar", || sentences.statement(), key::check);
}
