//! The memory that is still in use after a burst.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use trunkline_testkit::RawClient;
use trunkline_testkit::cluster::{DATABASE, TRUSTED_USER};

use super::statements::{hold_statements, prepare_few};
use crate::arguments::Options;
use crate::client::Client;
use crate::contender::{Ground, Kind, POOL_SIZE, Running, Setting};
use crate::cost;
use crate::figures::{Figures, head, row, show};

/// The bursts: a key and a name.
const BURSTS: [(&str, &str); 3] = [
    ("clients", "all clients log in, query at once and leave"),
    ("statements", "120 MB of statements are prepared, and their clients leave"),
    ("readers", "nine clients read 23 MB each, one after the other"),
];
/// The time between the end of a burst and the last measurement.
const REST: Duration = Duration::from_secs(15);
/// A query of 10 kB, and one of about 23 MB.
const SMALL: &str = "SELECT repeat('x', 10000)";
const LARGE: &str = "SELECT repeat('x', 1000) FROM generate_series(1, 22800)";

fn key(burst: &str, figure: &str) -> String {
    format!("burst/{burst}/{figure}")
}

/// Measures and renders. Each burst has a new process.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let kinds: Vec<Kind> = options.kinds.iter().copied().filter(|kind| kind.pools()).collect();
    for _ in 0..options.repetitions {
        for (burst, _) in BURSTS {
            for &kind in &kinds {
                let contender = ground.start(kind, Setting { cpu: options.cpu, ..Setting::default() })?;
                let [most, left] = contender.explain(measure(&contender, burst, options.idle_clients))?;
                figures.add(&key(burst, "most"), kind, Some(most));
                figures.add(&key(burst, "left"), kind, Some(left));
            }
        }
    }
    Ok(render(&kinds, figures))
}

/// Growth of the resident memory in bytes, at the burst's height and after it.
fn measure(contender: &Running, burst: &str, clients: usize) -> Result<[f64; 2]> {
    let pid = contender.pid().context("no proxy, no memory")?;
    // Memory that is allocated once, for the first clients, must not count for the burst.
    let mut first = Client::connect(contender.address)?;
    first.query(SMALL, &mut [0; 1024])?;
    let before = cost::resident(pid)?;
    let most = match burst {
        "clients" => come_and_go(contender, pid, clients)?,
        "statements" => {
            let clients = hold_statements(contender.address)?;
            let most = cost::resident(pid)?;
            clients.into_iter().try_for_each(RawClient::terminate)?;
            most
        }
        _ => read_late(contender, pid)?,
    };
    // One client is always connected, as in production.
    let mut other = RawClient::login(contender.address, TRUSTED_USER, "", DATABASE)?;
    let over = Instant::now() + REST;
    for look in 0.. {
        if Instant::now() > over {
            break;
        }
        std::thread::sleep(REST / 10);
        first.query(SMALL, &mut [0; 1024])?;
        prepare_few(&mut other, look)?;
    }
    let left = cost::resident(pid)?;
    Ok([most, left].map(|now| now.saturating_sub(before) as f64))
}

fn come_and_go(contender: &Running, pid: u32, clients: usize) -> Result<u64> {
    let mut buffer = [0; 16 * 1024];
    let mut all = Vec::with_capacity(clients);
    for n in 0..clients {
        all.push(Client::connect(contender.address).with_context(|| format!("client {n} of {clients}"))?);
    }
    for client in &mut all {
        client.send(SMALL)?;
    }
    let mut most = cost::resident(pid)?;
    for (n, client) in all.iter_mut().enumerate() {
        client.skip_answer(&mut buffer, |_| Ok(()))?;
        if n.is_multiple_of(500) {
            most = most.max(cost::resident(pid)?);
        }
    }
    for client in all {
        client.terminate()?;
    }
    Ok(most)
}

fn read_late(contender: &Running, pid: u32) -> Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let clients: Result<Vec<Client>> = (1..POOL_SIZE).map(|_| Client::connect(contender.address)).collect();
    let mut clients = clients?;
    for client in &mut clients {
        client.send(LARGE)?;
    }
    let mut most = 0;
    for client in &mut clients {
        client.skip_answer(&mut buffer, |bytes| {
            if bytes % 64 == 0 {
                most = most.max(cost::resident(pid)?);
            }
            Ok(())
        })?;
    }
    Ok(most.max(cost::resident(pid)?))
}

fn render(kinds: &[Kind], figures: &Figures) -> String {
    let mut columns = vec!["burst".to_owned()];
    columns.extend(kinds.iter().map(|kind| format!("{kind}, at its height, MB")));
    columns.extend(kinds.iter().map(|kind| format!("{kind}, {} s after it, MB", REST.as_secs())));
    let mut text = format!("\n### Memory after a burst\n\n{}", head(&columns, 1));
    for (burst, name) in BURSTS {
        let mut cells = vec![name.to_owned()];
        for figure in ["most", "left"] {
            let mb = |kind: &Kind| figures.median(&key(burst, figure), *kind).map(|bytes| bytes / 1e6);
            cells.extend(kinds.iter().map(|kind| show(mb(kind), 1)));
        }
        text.push_str(&row(cells));
    }
    text + "\nGrowth of the proxy's resident memory.\n"
}
