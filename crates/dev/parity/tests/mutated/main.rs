//! The corpus's statements, crossed with each other token by token. A fixed seed; for a longer search, in a release build:
//!
//! `TRUNKLINE_MUTATIONS=20000000 TRUNKLINE_SEED=7 cargo test --release -p trunkline-parity --test mutated`

mod deparse;
mod key;
mod mutator;

use std::fmt::Write as _;

use mutator::Mutator;

/// How many texts each thread tries, unless `TRUNKLINE_MUTATIONS` says.
const TEXTS: u64 = 60_000;
/// At least one of so many texts must count: else the mutations are too wild to tell anything.
const COUNTED_SHARE_MIN: u64 = 50;
/// How many failures are shown.
const SHOWN_MAX: usize = 10;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// Makes `check` of many texts: it says whether the text counted, or what is wrong.
fn search(check: fn(&str) -> Result<bool, String>) {
    let texts = setting("TRUNKLINE_MUTATIONS").unwrap_or(TEXTS);
    let seed = setting("TRUNKLINE_SEED").unwrap_or(1);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let (counted, failures) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    let mut mutator = Mutator::new(seed * threads + thread);
                    let (mut counted, mut failures) = (0, Vec::new());
                    for _ in 0..texts {
                        match check(&mutator.text()) {
                            Ok(counts) => counted += u64::from(counts),
                            Err(failure) => failures.push(failure),
                        }
                    }
                    (counted, failures)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).fold(
            (0, Vec::new()),
            |(counted, mut failures), (more, others)| {
                failures.extend(others);
                (counted + more, failures)
            },
        )
    });
    let mut report = format!("{} of {} texts\n", failures.len(), texts * threads);
    for failure in failures.iter().take(SHOWN_MAX) {
        let _ = writeln!(report, "{failure}");
    }
    assert!(failures.is_empty(), "{report}");
    assert!(counted * COUNTED_SHARE_MIN >= texts * threads, "only {counted} of {} counted", texts * threads);
}

#[test]
fn what_parses_is_written_as_it_is() {
    search(deparse::check);
}

#[test]
fn texts_of_one_key_have_one_fingerprint() {
    search(key::check);
}
