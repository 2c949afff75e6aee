//! Statements that nobody wrote: those of PostgreSQL's regression scripts, crossed with each other token by token, and
//! sentences of PostgreSQL's own grammar. A fixed seed; for a longer search, in a release build:
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

/// How many texts are tried, unless `TRUNKLINE_MADE_UP` says.
const TEXTS: u64 = 40_000;
/// How many are made at once.
const BATCH: u64 = 40_000;
/// At least one text in this many must count: otherwise the texts are too wild to tell anything.
const COUNTED_SHARE_MIN: u64 = 200;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

fn seed() -> u64 {
    setting("TRUNKLINE_SEED").unwrap_or(1)
}

/// Makes `check` of many texts: it says whether the text counted, or what is wrong.
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
fn crossed_statements_are_written_as_they_are() {
    let mut mutator = Mutator::new(seed());
    search("deparse of crossed statements", || mutator.statement(), deparse::check);
}

#[test]
fn sentences_of_the_grammar_are_written_as_they_are() {
    let mut sentences = Sentences::new(seed());
    search("deparse of sentences of the grammar", || sentences.statement(), deparse::check);
}

#[test]
fn sentences_are_to_pg_query_what_they_are_to_us() {
    let mut sentences = Sentences::new(seed());
    search("pg_query on sentences of the grammar", || sentences.statement(), pg_query::check);
}

#[test]
fn crossed_statements_of_one_key_have_one_fingerprint() {
    let mut mutator = Mutator::new(seed());
    search("keys of crossed statements", || mutator.statement(), key::check);
}

#[test]
fn sentences_of_one_key_have_one_fingerprint() {
    let mut sentences = Sentences::new(seed());
    search("keys of sentences of the grammar", || sentences.statement(), key::check);
}
