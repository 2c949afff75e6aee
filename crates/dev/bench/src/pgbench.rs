//! Runs pgbench and measures the proxy's CPU time.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::contender::{Ground, Running};
use crate::cost;
use crate::daemon;

/// How a run sends its queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    /// Query messages.
    Simple,
    /// Parse, Bind and Execute each time.
    Extended,
    /// Parse once, then Bind and Execute.
    Prepared,
}

impl Protocol {
    /// Every one, in the tables' order.
    pub(crate) const ALL: [Self; 3] = [Self::Simple, Self::Extended, Self::Prepared];

    /// pgbench's name for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }
}

/// The options of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// The protocol.
    pub(crate) protocol: Protocol,
    /// Clients at once.
    pub(crate) clients: usize,
    /// Whether each transaction has a connection of its own.
    pub(crate) reconnect: bool,
    /// The length of the run.
    pub(crate) seconds: u32,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Transactions a second. If connections are measured, the time to connect is included.
    pub(crate) rate: f64,
    /// CPU time of each of the proxy's threads for a transaction, in microseconds; empty without a proxy.
    pub(crate) thread_micros: Vec<f64>,
}

impl Outcome {
    /// CPU time of the proxy for a transaction, in microseconds; `None` without a proxy.
    pub(crate) fn micros(&self) -> Option<f64> {
        (!self.thread_micros.is_empty()).then(|| self.thread_micros.iter().sum())
    }

    /// CPU time of the proxy's busiest thread for a transaction. This bounds the proxy's throughput.
    pub(crate) fn busiest_micros(&self) -> Option<f64> {
        self.thread_micros.iter().copied().max_by(f64::total_cmp)
    }
}

/// Runs pgbench's select-only script.
///
/// # Errors
/// When pgbench fails, a client of it is aborted, or the proxy is gone.
pub(crate) fn run(ground: &Ground, target: &Running, load: Load) -> Result<Outcome> {
    target.explain(measure(ground, target, load))
}

fn measure(ground: &Ground, target: &Running, load: Load) -> Result<Outcome> {
    let mut command = ground.pgbench(target.address);
    command.args(["--select-only", "--no-vacuum", "--protocol", load.protocol.name()]);
    command.args(["-c", &load.clients.to_string(), "-T", &load.seconds.to_string()]);
    if load.reconnect {
        command.arg("--connect");
    }
    let before = times(target)?;
    let printed = daemon::run(&mut command)?;
    let after = times(target)?;
    let (transactions, rate) = parse(&printed).with_context(|| format!("pgbench printed:\n{printed}"))?;
    // Threads are listed in the order of their creation and do not end, so the two lists can be paired.
    let spent = after.iter().enumerate().map(|(n, time)| *time - before.get(n).copied().unwrap_or_default());
    let thread_micros = spent.map(|time| time.as_secs_f64() * 1e6 / transactions).collect();
    Ok(Outcome { rate, thread_micros })
}

fn times(target: &Running) -> Result<Vec<Duration>> {
    target.pid().map_or_else(|| Ok(Vec::new()), cost::threads)
}

/// Transactions and rate from pgbench's report. Failed transactions make it `None`.
fn parse(report: &str) -> Option<(f64, f64)> {
    let value = |key: &str| report.lines().find_map(|line| line.strip_prefix(key));
    let first = |text: &str| text.trim().split([' ', '/']).next()?.parse::<f64>().ok();
    if value("number of failed transactions:").and_then(first).is_some_and(|failed| failed > 0.0) {
        return None;
    }
    let transactions = first(value("number of transactions actually processed:")?)?;
    let rate = first(value("tps =")?)?;
    (transactions > 0.0).then_some((transactions, rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "pgbench (15.18)\nscaling factor: 5\nnumber of transactions actually processed: 5120\n\
        number of failed transactions: 0 (0.000%)\nlatency average = 0.1 ms\n\
        tps = 12345.5 (without initial connection time)\n";

    #[test]
    fn a_report_is_read() {
        assert_eq!(parse(REPORT), Some((5120.0, 12345.5)));
    }

    #[test]
    fn failed_or_missing_transactions_are_no_result() {
        assert_eq!(parse(&REPORT.replace("failed transactions: 0", "failed transactions: 3")), None);
        assert_eq!(parse(&REPORT.replace("5120", "0")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn the_busiest_thread_bounds_the_throughput() {
        let outcome = Outcome { rate: 1.0, thread_micros: vec![1.0, 7.0, 5.0] };
        assert_eq!((outcome.micros(), outcome.busiest_micros()), (Some(13.0), Some(7.0)));
        assert_eq!(Outcome { rate: 1.0, thread_micros: vec![] }.micros(), None);
    }
}
