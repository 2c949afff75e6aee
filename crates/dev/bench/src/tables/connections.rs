//! Connections per second, and the CPU time of one.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use crate::arguments::Options;
use crate::client::Client;
use crate::contender::{Ground, Kind, Route, Running};
use crate::cost;
use crate::figures::{Figures, head, row, show};
use crate::pgbench::{self, Load, Protocol};

/// Key of `pgbench -C -S`, to be followed by `/rate` or `/cpu`.
pub(crate) const PGBENCH: &str = "connections/pgbench";
/// Key of the loop that only logs in and leaves.
pub(crate) const LOOP: &str = "connections/loop";
/// Clients of pgbench.
const CLIENTS: usize = 10;
/// Threads of the loop.
const THREADS: usize = 4;

/// Measures and renders.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let contenders = super::start(ground, options, Route::Tcp, |_| true)?;
    let load =
        Load { protocol: Protocol::Simple, clients: CLIENTS, reconnect: true, seconds: options.seconds };
    for _ in 0..options.repetitions {
        for contender in &contenders {
            let outcome = pgbench::run(ground, contender, load)?;
            figures.add(&format!("{PGBENCH}/rate"), contender.kind, Some(outcome.rate));
            figures.add(&format!("{PGBENCH}/cpu"), contender.kind, outcome.micros());
        }
        for contender in &contenders {
            let (rate, micros) = contender.explain(measure_loop(contender, options.seconds))?;
            figures.add(&format!("{LOOP}/rate"), contender.kind, Some(rate));
            figures.add(&format!("{LOOP}/cpu"), contender.kind, micros);
        }
    }
    let kinds: Vec<Kind> = contenders.iter().map(|contender| contender.kind).collect();
    Ok(render(&kinds, figures))
}

/// Logs in and leaves, over and over: connections a second, and CPU of the proxy for one.
fn measure_loop(contender: &Running, seconds: u32) -> Result<(f64, Option<f64>)> {
    // The pool's first server connection is opened before the measurement.
    Client::connect(contender.address)?.terminate()?;
    let before = contender.pid().map(cost::cpu).transpose()?;
    let began = Instant::now();
    let end = began + Duration::from_secs(seconds.into());
    let threads: Vec<_> = (0..THREADS).map(|_| spawn_loop(contender.address, end)).collect();
    let mut connections = 0;
    for thread in threads {
        connections += thread.join().map_err(|_| anyhow!("a connecting thread panicked"))??;
    }
    let elapsed = began.elapsed().as_secs_f64();
    let after = contender.pid().map(cost::cpu).transpose()?;
    let spent = before.zip(after).map(|(before, after)| (after - before).as_secs_f64());
    let count = f64::from(connections);
    Ok((count / elapsed, spent.map(|seconds| seconds * 1e6 / count)))
}

fn spawn_loop(address: SocketAddr, end: Instant) -> thread::JoinHandle<Result<u32>> {
    thread::spawn(move || {
        let mut connections = 0;
        while Instant::now() < end {
            Client::connect(address)?.terminate()?;
            connections += 1;
        }
        Ok(connections)
    })
}

fn render(kinds: &[Kind], figures: &Figures) -> String {
    let columns = [
        "contender",
        "pgbench -C, connections/s",
        "CPU us each",
        "login and leave, connections/s",
        "CPU us each",
    ];
    let mut text = format!("\n### Connections\n\n{}", head(&columns.map(str::to_owned), 1));
    for kind in kinds {
        let median = |key: &str, figure: &str| figures.median(&format!("{key}/{figure}"), *kind);
        text.push_str(&row([
            kind.to_string(),
            show(median(PGBENCH, "rate"), 0),
            show(median(PGBENCH, "cpu"), 1),
            show(median(LOOP, "rate"), 0),
            show(median(LOOP, "cpu"), 1),
        ]));
    }
    text
}
