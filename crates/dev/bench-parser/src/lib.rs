//! Code that all contenders share: the statements, and the measurement of a function.
//!
//! Each contender is a program of its own, because two of them have a C library with the same symbols. Called as
//! `contender FUNCTION MILLISECONDS` it prints a line for each statement: nanoseconds of CPU a call. Called as
//! `contender FUNCTION STATEMENT CALLS` it makes so many calls, to be counted by callgrind.

mod statements;

pub use statements::{LONG, SELECT, oltp};

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ProcessTime;

/// A function to measure: its name, and a function that prepares a call for a statement.
pub type Function = (&'static str, fn(&'static str) -> Option<Call>);

/// One call. Its result is used only so that the compiler cannot remove the call.
pub type Call = Box<dyn FnMut() -> usize>;

/// All statements, in the order of the measurement: [`SELECT`], [`LONG`], then [`oltp`].
pub fn statements() -> Vec<&'static str> {
    [SELECT, LONG].into_iter().chain(oltp()).collect()
}

/// The `main` of a contender's program.
pub fn contend(functions: &[Function]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let known = |name: &str| functions.iter().find(|(known, _)| *known == name).map(|(_, prepare)| *prepare);
    match arguments.as_slice() {
        ["functions"] => functions.iter().for_each(|(name, _)| println!("{name}")),
        [name, milliseconds] => {
            let prepare = known(name).expect("a function of this contender");
            let budget = Duration::from_millis(milliseconds.parse().expect("a number of milliseconds"));
            for statement in statements() {
                match prepare(statement) {
                    Some(call) => println!("{:.1}", nanoseconds(call, budget)),
                    None => println!("-"),
                }
            }
        }
        [name, statement, calls] => {
            let prepare = known(name).expect("a function of this contender");
            let statement = statements()[statement.parse::<usize>().expect("the number of a statement")];
            let mut call = prepare(statement).expect("a statement that the contender takes");
            for _ in 0..calls.parse::<u64>().expect("a number of calls") {
                black_box(call());
            }
        }
        _ => eprintln!("usage: contender functions | FUNCTION MILLISECONDS | FUNCTION STATEMENT CALLS"),
    }
}

/// CPU time (user and system) of a call, in the quickest of several rounds of calls. Rounds are made until the budget is used.
fn nanoseconds(mut call: Call, budget: Duration) -> f64 {
    let mut round = 1_u32;
    loop {
        let start = ProcessTime::now();
        for _ in 0..round {
            black_box(call());
        }
        if start.elapsed() > budget / 10 {
            break;
        }
        round = round.saturating_mul(2);
    }
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let start = ProcessTime::now();
        for _ in 0..round {
            black_box(call());
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(round));
    }
    best
}
