//! Parses on several threads for a long time, and reports the memory of the process. `scripts/sanitize` runs it under
//! AddressSanitizer.
//!
//! ```sh
//! cargo run --release -p trunkline-parser --example soak -- seconds 60 8
//! cargo run --release -p trunkline-parser --example soak -- parses 10000000 1
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use trunkline_parser::edit::{self, RangeVarMut};
use trunkline_parser::{DeparseOptions, ParsedSql, parse, parse_plpgsql, scan, split_with_scanner};

const TEXTS: &[&str] = &[
    "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
    "SELECT a.*, count(*) OVER w FROM s.a JOIN b USING (id) WHERE c IN (1, 2, 3) AND d LIKE 'x%' WINDOW w AS (PARTITION BY e) ORDER BY f LIMIT 10",
    "INSERT INTO t (a, b) VALUES (1, 'é'), (2, E'\\n') ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING *",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r, LATERAL f(r.n) AS g",
    "CREATE TABLE t (id bigint PRIMARY KEY, a text DEFAULT 'x', CHECK (a <> ''))",
    "BEGIN; SET LOCAL work_mem = '64MB'; COMMIT",
    "SELECT 'not closed",
    "SELECT (1 + FROM t",
    "SELECT a\0b",
    "SELECT U&'\\00zz', \"\"",
    "",
];
/// After every so many parses, all other functions of the crate run on the tree.
const PARSES_BETWEEN_ALL: u64 = 64;
/// After every so many parses, a long text is parsed.
const PARSES_BETWEEN_LONG: u64 = 4096;
/// The number of memory reports in a run.
const REPORTS: u64 = 10;
/// How much the process may grow after the second report.
const GROWTH_BYTES_MAX: u64 = 4 << 20;
const PAGE_BYTES: u64 = 4096;

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default() * PAGE_BYTES
}

fn run_all(mut tree: ParsedSql, text: &str) -> ParsedSql {
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let read = tree.to_json().len() + format!("{tree:?}").len() + tree.normalize(text).len();
    let written =
        tree.deparse().map_or(0, |text| text.len()) + tree.deparse_with(&pretty).map_or(0, |text| text.len());
    let _ = (read + written, tree.fingerprint(), tree.classify(), tree.references().relations().len());
    let _ = (
        tree.summary().is_ok(),
        tree.truncate(40).is_ok(),
        scan(text).is_ok(),
        split_with_scanner(text).is_ok(),
    );
    let edited = tree.edit_each(|mut slot| {
        if let Some(mut table) = slot.node_mut().cast::<RangeVarMut<'_>>() {
            table.set_schemaname(Some("other"))?;
        }
        Ok(())
    });
    let pushed = edit::statement("SELECT 1").and_then(|fragment| tree.statements_mut().push(fragment));
    if edited.is_err() || pushed.is_err() {
        eprintln!("an edit was refused");
    }
    tree
}

/// Parses until `is_over`. Every second tree is dropped on another thread.
fn work(number: u64, parses: &AtomicU64, is_over: &(dyn Fn(u64) -> bool + Sync), long: &str) {
    let (sender, receiver) = sync_channel::<ParsedSql>(64);
    thread::scope(|scope| {
        scope.spawn(move || receiver.into_iter().for_each(drop));
        let mut round = number;
        while !is_over(parses.fetch_add(1, Ordering::Relaxed)) {
            round += 1;
            let text = TEXTS[usize::try_from(round).unwrap_or_default() % TEXTS.len()];
            let Ok(mut tree) = parse(text) else { continue };
            if round.is_multiple_of(PARSES_BETWEEN_ALL) {
                tree = run_all(tree, text);
            }
            if round.is_multiple_of(PARSES_BETWEEN_LONG) {
                let _ =
                    (parse(long), parse_plpgsql("DO $$BEGIN RETURN; END$$"), parse_plpgsql("DO $$BEGIN$$"));
            }
            if round.is_multiple_of(2) && sender.send(tree).is_err() {
                return;
            }
        }
        drop(sender);
    });
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, amount, threads] = arguments.as_slice() else {
        eprintln!("usage: soak seconds|parses NUMBER THREADS");
        return ExitCode::from(2);
    };
    let (Ok(amount), Ok(threads)) = (amount.parse::<u64>(), threads.parse::<u64>()) else {
        eprintln!("soak: {amount} and {threads} are to be numbers");
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let parses = AtomicU64::new(0);
    let by_time = what == "seconds";
    let is_over =
        |done: u64| if by_time { began.elapsed() >= Duration::from_secs(amount) } else { done >= amount };
    let long = format!("SELECT '{}' WHERE a IN (1{})", "x".repeat(100_000), ", 2".repeat(2_000));
    let mut reports = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (parses, is_over, long) = (&parses, &is_over, &long);
                scope.spawn(move || work(number, parses, is_over, long))
            })
            .collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(100));
            let done = if by_time { began.elapsed().as_secs() } else { parses.load(Ordering::Relaxed) };
            if done >= amount * (reports.len() as u64 + 1) / REPORTS {
                reports.push(resident());
                println!("{done:>10} {what}: {:>6} KiB resident", resident() / 1024);
            }
        }
    });
    println!("{} parses in {:.1} s on {threads} threads", parses.into_inner(), began.elapsed().as_secs_f64());
    let growth = reports
        .last()
        .copied()
        .unwrap_or_default()
        .saturating_sub(reports.get(1).copied().unwrap_or_default());
    println!("{} KiB more than after the first fifth", growth / 1024);
    // AddressSanitizer keeps freed memory for a while, so the process grows.
    if growth > GROWTH_BYTES_MAX && std::env::var_os("ASAN_OPTIONS").is_none() {
        eprintln!("soak: memory is not flat");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
