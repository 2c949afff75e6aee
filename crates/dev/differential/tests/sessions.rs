//! Compares random sessions on direct connections and in transaction mode.
//!
//! `TRUNKLINE_DIFFERENTIAL_STATEMENTS=100000` makes a long run, `TRUNKLINE_DIFFERENTIAL_SEED` chooses other sessions, and
//! `TRUNKLINE_DIFFERENTIAL_CLASSES=set,literals` uses some classes only. `cargo run -p trunkline-differential -- --help` has all options.

use std::env;

use trunkline_differential::play::Errors;
use trunkline_differential::{Classes, Options, run};
use trunkline_probes::note;
use trunkline_probes::testkit::Version;

/// The default number of statements of a test, which take some ten seconds.
const STATEMENTS: usize = 1500;

/// Plays scripts; each difference fails the test with the shortest script that shows it.
fn sessions(version: Version, churners: usize) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<usize>().expect("a number"));
    let chosen = env::var("TRUNKLINE_DIFFERENTIAL_CLASSES");
    let options = Options {
        seed: number("TRUNKLINE_DIFFERENTIAL_SEED").unwrap_or(1) as u64,
        statements: number("TRUNKLINE_DIFFERENTIAL_STATEMENTS").unwrap_or(STATEMENTS),
        script_statements: 250,
        classes: Classes::parse(chosen.as_deref().unwrap_or("all")).expect("classes"),
        version,
        churners,
        errors: Errors::Whole,
        shrink: true,
        differences_max: 1,
    };
    let summary = run(&options, |_, _| {}).expect("a server and a proxy");
    note(&format!("{} scripts, {:?}", summary.scripts, summary.figures));
    assert!(summary.differences.is_empty(), "{}", summary.differences.join("\n"));
}

#[test]
fn sessions_are_answered_as_by_postgresql_15_itself() {
    sessions(Version::PG15, 0);
}

#[test]
fn sessions_are_answered_as_by_postgresql_18_itself() {
    sessions(Version::PG18, 0);
}

#[test]
fn sessions_are_answered_as_by_postgresql_itself_beside_churning_clients() {
    sessions(Version::PG15, 3);
}
