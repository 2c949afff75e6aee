//! Random sessions, direct against transaction mode.
//!
//! `TRUNKLINE_DIFFERENTIAL_STATEMENTS=100000` makes a long run of it, `TRUNKLINE_DIFFERENTIAL_SEED` another one, and
//! `TRUNKLINE_DIFFERENTIAL_CLASSES=all` one of everything; `cargo run -p trunkline-differential -- --help` has the rest.

use std::env;

use trunkline_differential::play::Errors;
use trunkline_differential::{Classes, Options, run};
use trunkline_probes::note;
use trunkline_probes::testkit::Version;

/// Statements of a test where the environment says nothing: some ten seconds.
const STATEMENTS: usize = 1500;
/// What holds without a difference in the whole of every message but errors, of which severity and SQLSTATE do.
const HELD: &str = "set,errors,copy,pipelines,flush";

/// Plays scripts; each difference fails the test with the shortest script that shows it.
fn sessions(version: Version, churners: usize, classes: &str, errors: Errors) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<usize>().expect("a number"));
    let chosen = env::var("TRUNKLINE_DIFFERENTIAL_CLASSES");
    let options = Options {
        seed: number("TRUNKLINE_DIFFERENTIAL_SEED").unwrap_or(1) as u64,
        statements: number("TRUNKLINE_DIFFERENTIAL_STATEMENTS").unwrap_or(STATEMENTS),
        script_statements: 250,
        classes: Classes::parse(chosen.as_deref().unwrap_or(classes)).expect("classes"),
        version,
        churners,
        errors,
        shrink: true,
        differences_max: 1,
    };
    let summary = run(&options, |_, _| {}).expect("a server and a proxy");
    note(&format!("{} scripts, {:?}", summary.scripts, summary.figures));
    assert!(summary.differences.is_empty(), "{}", summary.differences.join("\n"));
}

#[test]
fn what_holds_is_answered_as_by_postgresql_15_itself() {
    sessions(Version::PG15, 0, HELD, Errors::Codes);
}

#[test]
fn what_holds_is_answered_as_by_postgresql_18_itself() {
    sessions(Version::PG18, 0, HELD, Errors::Codes);
}

#[test]
#[ignore = "statements of other settings, DDL, start-up values, names in errors: issue 10, points 4 to 8, 10 and 12"]
fn everything_is_answered_as_by_postgresql_15_itself() {
    sessions(Version::PG15, 0, "all", Errors::Whole);
}

#[test]
#[ignore = "statements of other settings, DDL, start-up values, names in errors: issue 10, points 4 to 8, 10 and 12"]
fn everything_is_answered_as_by_postgresql_18_itself() {
    sessions(Version::PG18, 0, "all", Errors::Whole);
}

#[test]
#[ignore = "a turn hangs whose settings go ahead and that has DISCARD ALL parsed and described: issue 10"]
fn everything_is_answered_as_by_postgresql_itself_while_others_churn_at_once() {
    sessions(Version::PG15, 3, "all", Errors::Whole);
}
