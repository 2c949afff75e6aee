//! A seeded simulation of pools and relay, without sockets: boards, model servers and model clients, and a network that
//! delays, cuts and breaks everything.
//!
//! `TRUNKLINE_SIM_SEED` repeats one run, `TRUNKLINE_SIM_STEPS` sets its length, and `TRUNKLINE_SIM_SEEDS` sets the
//! number of runs. Each run has other settings.

mod arrivals;
mod before_login;
mod frames;
mod model_client;
mod model_server;
mod pipe;
mod report;
mod scenes;
mod shell;
mod world;

use std::collections::BTreeMap;

use world::World;

/// How many runs `cargo test` makes.
const SEEDS: u64 = 300;
/// How many random events a run has, before everything that is under way may finish.
const STEPS: u64 = 4_000;

/// Rare errors. All runs together must have seen each of them.
const REFUSALS: [&str; 13] = [
    "0A000 transaction",
    "22023 model: bad value for",
    "28P01 password authentication failed for",
    "3D000 no such database: \"d\"",
    "53300 no more client connections",
    "53300 no more connections allowed",
    "53300 no server connection became",
    "57014 canceling statement due to",
    "57P01 terminating connection due to",
    "57P01 the proxy is shutting",
    "57P03 logins cannot be checked",
    "at the door 53300",
    "at the door 57P03",
];

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

fn run(seed: u64, steps: u64) -> World {
    let mut world = World::new(seed);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.run(steps)));
    let why = match outcome {
        Ok(Ok(())) => return world,
        Ok(Err(why)) => why,
        Err(panic) => panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "a panic".to_owned()),
    };
    panic!("{}", report::failure(&world, seed, steps, &why));
}

#[test]
fn seeded_runs_lose_no_connection_lend_none_twice_and_leave_none_dirty() {
    let steps = setting("TRUNKLINE_SIM_STEPS").unwrap_or(STEPS);
    if let Some(seed) = setting("TRUNKLINE_SIM_SEED") {
        run(seed, steps);
        return;
    }
    let first = setting("TRUNKLINE_SIM_FIRST").unwrap_or(1);
    let seeds = setting("TRUNKLINE_SIM_SEEDS").unwrap_or(SEEDS);
    let mut refusals = BTreeMap::new();
    let mut answers = 0;
    for seed in first..first + seeds {
        let world = run(seed, steps);
        answers += world.answers;
        for (refusal, count) in world.refusals {
            *refusals.entry(refusal).or_insert(0) += count;
        }
    }
    for due in REFUSALS {
        assert!(seeds < 100 || refusals.contains_key(due), "nobody was refused with {due}: {refusals:#?}");
    }
    assert!(seeds < 10 || answers > seeds * steps / 100, "only {answers} answers were compared");
}
