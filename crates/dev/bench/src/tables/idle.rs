//! Memory of clients that are logged in and do nothing.

use anyhow::{Context, Result};

use crate::arguments::Options;
use crate::client::Client;
use crate::contender::{Ground, Kind, Running, Setting};
use crate::cost;
use crate::figures::{Figures, head, row, show};

/// Key: bytes for each client after its login.
pub(crate) const AFTER_LOGIN: &str = "idle/login";
/// Key: bytes for each client after each has run a query, one after the other.
pub(crate) const AFTER_QUERY: &str = "idle/query";
/// Key: bytes for each client after all have run a query at the same time.
pub(crate) const AFTER_BURST: &str = "idle/burst";
const KEYS: [&str; 3] = [AFTER_LOGIN, AFTER_QUERY, AFTER_BURST];

/// Measures and renders. Each repetition has a new process, because processes seldom give memory back.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let kinds: Vec<Kind> = options.kinds.iter().copied().filter(|kind| kind.pools()).collect();
    for _ in 0..options.repetitions {
        for &kind in &kinds {
            let contender = ground.start(kind, Setting { cpu: options.cpu, ..Setting::default() })?;
            let each = contender.explain(measure(&contender, options.idle_clients))?;
            for (key, bytes) in KEYS.into_iter().zip(each) {
                figures.add(key, kind, Some(bytes));
            }
        }
    }
    Ok(render(&kinds, options.idle_clients, figures))
}

/// Bytes for each client, in the order of [`KEYS`]. All clients are idle when memory is read.
fn measure(contender: &Running, clients: usize) -> Result<[f64; 3]> {
    let pid = contender.pid().context("no proxy, no memory")?;
    let mut buffer = [0; 1024];
    // Memory that is allocated once, for the first client, must not count for the others.
    let mut first = Client::connect(contender.address)?;
    first.query("SELECT 1", &mut buffer)?;
    let before = cost::resident(pid)?;
    let mut idle = Vec::with_capacity(clients);
    for n in 0..clients {
        idle.push(Client::connect(contender.address).with_context(|| format!("client {n} of {clients}"))?);
    }
    let logged_in = cost::resident(pid)?;
    for client in &mut idle {
        client.query("SELECT 1", &mut buffer)?;
    }
    let queried = cost::resident(pid)?;
    for client in &mut idle {
        client.send("SELECT 1")?;
    }
    for client in &mut idle {
        client.skip_answer(&mut buffer, |_| Ok(()))?;
    }
    let all_queried = cost::resident(pid)?;
    Ok([logged_in, queried, all_queried].map(|now| now.saturating_sub(before) as f64 / clients as f64))
}

fn render(kinds: &[Kind], clients: usize, figures: &Figures) -> String {
    let columns =
        ["contender", "logged in, KiB a client", "after a query each", "after a query by all at once"];
    let mut text = format!("\n### Idle clients ({clients})\n\n{}", head(&columns.map(str::to_owned), 1));
    for kind in kinds {
        let kib = |key| show(figures.median(key, *kind).map(|bytes| bytes / 1024.0), 2);
        text.push_str(&row([vec![kind.to_string()], KEYS.map(kib).to_vec()].concat()));
    }
    text + "\nGrowth of the proxy's resident memory by the number of clients; the kernel's socket buffers are not in it.\n"
}
