//! Backends are killed with SIGKILL at random moments while 50 clients run TPC-B transactions. No client may hang, no answer may
//! be wrong, and the sums of the accounts must agree in the end.

#[path = "balances/teller.rs"]
mod teller;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use trunkline_probes::testkit::{PATIENCE, Signal};
use trunkline_probes::{Rotation, Stage, probes};

use teller::{Outcome, Shift, Teller};

probes! { kill_9_of_backends_under_tpc_b }

/// The environment variable with the number of kills; default [`KILLS`].
const KILLS_VARIABLE: &str = "TRUNKLINE_PROBE_KILLS";
const KILLS: usize = 200;
/// The environment variable with the seed of the random moments; default [`SEED`].
const SEED_VARIABLE: &str = "TRUNKLINE_PROBE_SEED";
const SEED: u64 = 20_261_121;

const CLIENTS: usize = 50;
const POOL_SIZE: i64 = 10;
/// Sizes as in pgbench at scale 1, but with fewer accounts: only the waiting of transactions for each other matters.
const BRANCHES: u64 = 2;
const TELLERS: u64 = 20;
const ACCOUNTS: u64 = 1000;
/// The longest time between the recovery from one kill and the next kill.
const PAUSE_MS_MAX: u64 = 60;

/// A small random generator (splitmix64). The same seed gives the same moments and amounts.
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

fn setting(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{variable}={text:?}: {error}")))
}

fn create_tables(stage: &Stage) {
    // The testkit's servers do not keep commits over a crash. This test needs them to.
    stage.sql(&format!("alter database {} set synchronous_commit = on", stage.database()));
    let mut owner = stage.direct("app");
    owner
        .sql(&format!(
            "create table branches (bid int primary key, bbalance bigint not null);
             create table tellers (tid int primary key, bid int, tbalance bigint not null);
             create table accounts (aid int primary key, bid int, abalance bigint not null);
             create table history (id bigint primary key, tid int, bid int, aid int, delta bigint not null);
             insert into branches select g, 0 from generate_series(1, {BRANCHES}) g;
             insert into tellers select g, 1 + g % {BRANCHES}, 0 from generate_series(1, {TELLERS}) g;
             insert into accounts select g, 1 + g % {BRANCHES}, 0 from generate_series(1, {ACCOUNTS}) g;"
        ))
        .expect("tables");
}

/// Kills one backend of the test's database, chosen at random. False while the server does not answer, or has none.
fn kill_one(stage: &Stage, random: &mut Random) -> bool {
    let Ok(mut client) = stage.cluster().superuser(stage.database()) else { return false };
    let sql = "select pid from pg_stat_activity where datname = current_database() and \
               backend_type = 'client backend' and pid <> pg_backend_pid()";
    let Ok(pids) = client.sql(sql) else { return false };
    let Ok(count) = u64::try_from(pids.len()) else { return false };
    if count == 0 {
        return false;
    }
    let chosen = usize::try_from(random.below(count)).ok().and_then(|at| pids.get(at)?.parse().ok());
    chosen.is_some_and(|pid| stage.cluster().kill_backend(pid, Signal::KILL).is_ok())
}

/// Waits until `count` more transactions have been committed.
fn wait_for_commits(commits: &AtomicU64, count: u64, failed: &AtomicBool) {
    let (wanted, deadline) = (commits.load(Ordering::Relaxed) + count, Instant::now() + PATIENCE);
    while commits.load(Ordering::Relaxed) < wanted && !failed.load(Ordering::Relaxed) {
        assert!(Instant::now() < deadline, "nothing was committed for {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn kill_9_of_backends_under_tpc_b(stage: &Stage) {
    let (kills, seed) = (setting(KILLS_VARIABLE, KILLS as u64), setting(SEED_VARIABLE, SEED));
    create_tables(stage);
    let setup = Rotation::setup(stage.setup(), POOL_SIZE).set("workers", 2);
    let setup =
        setup.set("timeouts.server_login_retry", "20ms").set("timeouts.server_login_retry_max", "100ms");
    let proxy = setup.start();
    let shift = Arc::new(Shift::new(proxy.address()));
    let tellers: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let shift = Arc::clone(&shift);
            let random = Random(seed ^ ((number as u64 + 1) << 32));
            std::thread::spawn(move || Teller::new(number as u64, &shift, random).work())
        })
        .collect();
    let mut random = Random(seed);
    for _ in 0..kills {
        wait_for_commits(&shift.commits, 20, &shift.failed);
        std::thread::sleep(Duration::from_millis(random.below(PAUSE_MS_MAX)));
        let deadline = Instant::now() + PATIENCE;
        while !kill_one(stage, &mut random) && !shift.failed.load(Ordering::Relaxed) {
            assert!(Instant::now() < deadline, "no backend to kill for {PATIENCE:?}");
        }
    }
    wait_for_commits(&shift.commits, CLIENTS as u64, &shift.failed);
    shift.over.store(true, Ordering::Relaxed);
    let outcomes: Vec<Outcome> = tellers
        .into_iter()
        .map(|teller| teller.join().expect("a client's thread"))
        .collect::<Result<_, String>>()
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    audit(stage, &outcomes, seed);
}

fn audit(stage: &Stage, outcomes: &[Outcome], seed: u64) {
    let sums = stage.sql(
        "select (select sum(abalance) from accounts) = (select coalesce(sum(delta), 0) from history), \
                (select sum(tbalance) from tellers) = (select coalesce(sum(delta), 0) from history), \
                (select sum(bbalance) from branches) = (select coalesce(sum(delta), 0) from history)",
    );
    assert_eq!(sums, ["t|t|t"], "seed {seed}: the books do not balance");
    let recorded: HashSet<u64> =
        stage.sql("select id from history").iter().map(|line| line.parse().expect("an id")).collect();
    for outcome in outcomes {
        let lost: Vec<_> = outcome.committed.iter().filter(|id| !recorded.contains(id)).collect();
        assert!(lost.is_empty(), "seed {seed}: committed, and not there: {lost:?}");
    }
    let known: HashSet<u64> = outcomes
        .iter()
        .flat_map(|outcome| outcome.committed.iter().chain(&outcome.unsure))
        .copied()
        .collect();
    let unknown: Vec<_> = recorded.difference(&known).collect();
    assert!(unknown.is_empty(), "seed {seed}: rolled back as far as clients know, and there: {unknown:?}");
    let errors: usize = outcomes.iter().map(|outcome| outcome.errors).sum();
    assert!(errors > 0, "no kill was noticed: they did not meet the workload");
}
