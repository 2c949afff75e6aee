//! Large results: CPU time for each megabyte, and memory while a client reads slowly.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::arguments::Options;
use crate::client::Client;
use crate::contender::{Ground, Kind, Route, Running};
use crate::cost;
use crate::figures::{Figures, head, row, show};

/// A large result: its key and name, and the query that makes about 230 MB of it.
pub(crate) const SHAPES: [(&str, &str); 3] = [
    ("rows of 1 kB", "SELECT repeat('x', 1000) FROM generate_series(1, 228000)"),
    ("rows of 100 B", "SELECT repeat('x', 100) FROM generate_series(1, 2070000)"),
    ("COPY of 1 kB rows", "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 228000)) TO STDOUT"),
];
/// Key: growth of the resident memory under a slow reader, in bytes.
const SLOW: &str = "large/slow";
/// How many bytes the fast reader reads at a time.
const FAST_READ_BYTES: usize = 256 * 1024;
/// How many bytes the slow reader reads at a time, and its pause after that: about 30 MB/s.
const SLOW_READ_BYTES: usize = 64 * 1024;
const SLOW_REST: Duration = Duration::from_millis(2);
/// The error with which the slow reader ends its reading. It is not a failure.
const ENOUGH: &str = "the slow reader's time is up";

/// The key of the CPU time for one MB of a result.
pub(crate) fn cpu_key(shape: &str) -> String {
    format!("large/{shape}/cpu")
}

/// Measures and renders.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let contenders = super::start(ground, options, Route::Tcp, |kind| kind != Kind::Direct)?;
    let mut buffer = vec![0; FAST_READ_BYTES];
    for _ in 0..options.repetitions {
        for (shape, sql) in SHAPES {
            for contender in &contenders {
                let micros = contender.explain(measure_fast(contender, sql, &mut buffer))?;
                figures.add(&cpu_key(shape), contender.kind, Some(micros));
            }
        }
        for contender in &contenders {
            let growth = contender.explain(measure_slow(contender, options.seconds))?;
            figures.add(SLOW, contender.kind, Some(growth));
        }
    }
    let kinds: Vec<Kind> = contenders.iter().map(|contender| contender.kind).collect();
    Ok(render(&kinds, figures))
}

/// CPU time of the proxy for one MB (1,000,000 bytes), in microseconds, while the client reads as fast as it can.
fn measure_fast(contender: &Running, sql: &str, buffer: &mut [u8]) -> Result<f64> {
    let pid = contender.pid().context("no proxy, no cost")?;
    let mut client = Client::connect(contender.address)?;
    let before = cost::cpu(pid)?;
    let bytes = client.query(sql, buffer)?;
    let spent = cost::cpu(pid)? - before;
    client.terminate()?;
    Ok(spent.as_secs_f64() * 1e6 / (bytes as f64 / 1e6))
}

/// Peak growth of the proxy's resident memory, in bytes, while a client reads at about 30 MB/s.
fn measure_slow(contender: &Running, seconds: u32) -> Result<f64> {
    let pid = contender.pid().context("no proxy, no memory")?;
    let (_, sql) = SHAPES[0];
    let mut client = Client::connect(contender.address)?;
    let before = cost::resident(pid)?;
    let end = Instant::now() + Duration::from_secs(seconds.into());
    let mut peak = before;
    client.send(sql)?;
    let read = client.skip_answer(&mut [0; SLOW_READ_BYTES], |_| {
        peak = peak.max(cost::resident(pid)?);
        std::thread::sleep(SLOW_REST);
        if Instant::now() > end {
            bail!(ENOUGH);
        }
        Ok(())
    });
    match read {
        Err(error) if error.to_string() != ENOUGH => Err(error),
        _ => Ok(peak.saturating_sub(before) as f64),
    }
}

fn render(kinds: &[Kind], figures: &Figures) -> String {
    let mut columns = vec!["contender".to_owned()];
    columns.extend(SHAPES.map(|(shape, _)| format!("{shape}, CPU us/MB")));
    columns.push("memory growth under a slow reader, KiB".to_owned());
    let mut text = format!("\n### Large results (about 230 MB)\n\n{}", head(&columns, 1));
    for kind in kinds {
        let mut cells = vec![kind.to_string()];
        cells.extend(SHAPES.map(|(shape, _)| show(figures.median(&cpu_key(shape), *kind), 0)));
        cells.push(show(figures.median(SLOW, *kind).map(|bytes| bytes / 1024.0), 0));
        text.push_str(&row(cells));
    }
    text
}
