//! The corpus's statements, crossed with each other token by token. A fixed seed; for a longer search, in a release build:
//!
//! `TRUNKLINE_MUTATIONS=20000000 TRUNKLINE_SEED=7 cargo test --release -p trunkline-parity --test mutated`

mod deparse;
#[path = "../deparse_more/faithful.rs"]
mod faithful;
mod key;
mod mutator;

use std::sync::atomic::{AtomicU64, Ordering};

use mutator::Mutator;
use trunkline_parity::{Statement, compare_in};

/// How many texts are tried, unless `TRUNKLINE_MUTATIONS` says.
const TEXTS: u64 = 120_000;
/// How many are made at once.
const BATCH: u64 = 120_000;
/// At least one of so many texts must count: else the mutations are too wild to tell anything.
const COUNTED_SHARE_MIN: u64 = 50;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// Makes `check` of many texts: it says whether the text counted, or what is wrong.
fn search(name: &str, check: fn(&str) -> Result<bool, String>) {
    let texts = setting("TRUNKLINE_MUTATIONS").unwrap_or(TEXTS);
    let mut mutator = Mutator::new(setting("TRUNKLINE_SEED").unwrap_or(1));
    let counted = AtomicU64::new(0);
    let mut left = texts;
    while left > 0 {
        let batch: Vec<Statement> = (0..left.min(BATCH)).map(|_| mutator.statement()).collect();
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
fn what_parses_is_written_as_it_is() {
    search("deparse of mutated statements", deparse::check);
}

#[test]
fn texts_of_one_key_have_one_fingerprint() {
    search("keys of mutated statements", key::check);
}
