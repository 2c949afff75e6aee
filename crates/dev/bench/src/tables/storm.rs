//! How long logged-in clients wait for answers while thousands log in.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use trunkline_testkit::RawClient;
use trunkline_testkit::cluster::{APP_USER, DATABASE, PASSWORD};

use crate::arguments::Options;
use crate::contender::{Auth, Ground, Kind, Running, Setting};
use crate::cost;
use crate::figures::{Figures, head, row, show};
use crate::storm::{keys, storm};

/// Key: median wait of the logged-in clients during the storm, in microseconds.
pub(crate) const WAIT: &str = "storm/wait";
/// Key: the wait that one query in a hundred exceeds.
const LONG_WAIT: &str = "storm/long-wait";
/// Key: median wait of the same clients before the storm.
const CALM: &str = "storm/calm";
/// Key: seconds until all are logged in.
const LENGTH: &str = "storm/length";
/// Clients that log in at once.
const LOGINS: usize = 2000;
/// Clients that are already logged in.
const INSIDE: usize = 10;
/// Their pause between an answer and the next query, as real clients have.
const REST: Duration = Duration::from_millis(2);
/// How long their waits are measured before the storm.
const CALM_BEFORE: Duration = Duration::from_secs(1);

/// Measures and renders.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let kinds: Vec<Kind> = options.kinds.iter().copied().filter(|kind| kind.pools()).collect();
    for _ in 0..options.repetitions {
        for &kind in &kinds {
            let setting = Setting { auth: Auth::Scram, cpu: options.cpu, ..Setting::default() };
            let contender = ground.start(kind, setting)?;
            for (key, value) in contender.explain(measure(&contender))? {
                figures.add(key, kind, Some(value));
            }
        }
    }
    Ok(render(&kinds, figures))
}

fn measure(contender: &Running) -> Result<[(&'static str, f64); 4]> {
    let keys = keys(contender.address)?;
    let stop = Arc::new(AtomicBool::new(false));
    let inside: Vec<_> = (0..INSIDE).map(|_| ask_on(contender.address, &stop)).collect();
    thread::sleep(CALM_BEFORE);
    let began = Instant::now();
    let length = storm(contender.address, LOGINS, &keys);
    let ended = Instant::now();
    stop.store(true, Ordering::Relaxed);
    let mut waits = Vec::new();
    for client in inside {
        waits.extend(client.join().map_err(|_| anyhow!("a client's thread panicked"))??);
    }
    let length = length?;
    let (calm, stormy): (Vec<Wait>, Vec<Wait>) =
        waits.into_iter().filter(|wait| wait.asked < ended).partition(|wait| wait.asked < began);
    let micros = |waits: &[Wait]| -> Vec<f64> {
        let mut micros: Vec<f64> = waits.iter().map(|wait| wait.length.as_secs_f64() * 1e6).collect();
        micros.sort_unstable_by(f64::total_cmp);
        micros
    };
    let (calm, stormy) = (micros(&calm), micros(&stormy));
    let median = |waits: &[f64]| cost::median(waits).ok_or_else(|| anyhow!("nobody asked anything"));
    let long = stormy.get(stormy.len() * 99 / 100).copied().unwrap_or_default();
    Ok([(CALM, median(&calm)?), (WAIT, median(&stormy)?), (LONG_WAIT, long), (LENGTH, length.as_secs_f64())])
}

/// A query's way and back.
struct Wait {
    asked: Instant,
    length: Duration,
}

/// A logged-in client that sends queries with pauses until `stop` is set.
fn ask_on(address: SocketAddr, stop: &Arc<AtomicBool>) -> JoinHandle<Result<Vec<Wait>>> {
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        let mut client = RawClient::login(address, APP_USER, PASSWORD, DATABASE)?;
        let mut waits = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let asked = Instant::now();
            client.sql("select 1")?;
            waits.push(Wait { asked, length: asked.elapsed() });
            thread::sleep(REST);
        }
        Ok(waits)
    })
}

fn render(kinds: &[Kind], figures: &Figures) -> String {
    let columns = [
        "contender",
        "median wait before, ms",
        "median wait in the storm, ms",
        "1 in 100 waits longer than, ms",
        "all are in after, s",
    ];
    let mut text =
        format!("\n### A storm of {LOGINS} SCRAM logins\n\n{}", head(&columns.map(str::to_owned), 1));
    for kind in kinds {
        let ms = |key| show(figures.median(key, *kind).map(|micros| micros / 1000.0), 2);
        let length = show(figures.median(LENGTH, *kind), 2);
        text.push_str(&row([kind.to_string(), ms(CALM), ms(WAIT), ms(LONG_WAIT), length]));
    }
    text + &format!(
        "\n{INSIDE} clients that are in ask `select 1`, {} ms after each answer, while {LOGINS} log in at once.\n",
        REST.as_millis()
    )
}
