//! Memory of prepared statements that differ from each other.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use trunkline_testkit::cluster::{DATABASE, TRUSTED_USER};
use trunkline_testkit::{Messages, RawClient};

use crate::arguments::Options;
use crate::contender::{Ground, Kind, Running, Setting};
use crate::cost;
use crate::figures::{Figures, head, row, show};

/// Key: growth of the resident memory while clients hold them, in bytes.
pub(crate) const HELD: &str = "statements/held";
/// Key: the same when those clients have left.
const LEFT: &str = "statements/left";
/// The number of statements, and the bytes of each text: 120 MB in total.
const STATEMENTS: usize = 12_000;
const TEXT_BYTES: usize = 10_000;
/// The clients that prepare them, each a part: no pooler lets one client have so many.
const CLIENTS: usize = 12;
/// The time between the leaving of the clients and the second measurement.
const REST: Duration = Duration::from_secs(15);

/// Measures and renders. Each repetition has a new process.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let kinds: Vec<Kind> = options.kinds.iter().copied().filter(|kind| kind.pools()).collect();
    for _ in 0..options.repetitions {
        for &kind in &kinds {
            let contender = ground.start(kind, Setting { cpu: options.cpu, ..Setting::default() })?;
            let [held, left] = contender.explain(measure(&contender))?;
            figures.add(HELD, kind, Some(held));
            figures.add(LEFT, kind, Some(left));
        }
    }
    Ok(render(&kinds, figures))
}

fn measure(contender: &Running) -> Result<[f64; 2]> {
    let pid = contender.pid().context("no proxy, no memory")?;
    // Memory that is allocated once must not count for the statements.
    let mut client = RawClient::login(contender.address, TRUSTED_USER, "", DATABASE)?;
    turn(&mut client, &Messages::new().parse("first", "select 1", &[]).sync())?;
    client.terminate()?;
    let before = cost::resident(pid)?;
    let clients = hold_statements(contender.address)?;
    let held = cost::resident(pid)?;
    clients.into_iter().try_for_each(RawClient::terminate)?;
    std::thread::sleep(REST);
    let left = cost::resident(pid)?;
    Ok([held, left].map(|now| now.saturating_sub(before) as f64))
}

/// Returns clients that together have prepared all statements.
pub(super) fn hold_statements(address: SocketAddr) -> Result<Vec<RawClient>> {
    (0..CLIENTS).map(|client| hold_share(address, client)).collect()
}

fn hold_share(address: SocketAddr, client: usize) -> Result<RawClient> {
    let mut stream = RawClient::login(address, TRUSTED_USER, "", DATABASE)?;
    for n in 0..STATEMENTS / CLIENTS {
        let begin = format!("select {client}, {n} -- ");
        let text = format!("{begin}{:x<1$}", "", TEXT_BYTES - begin.len());
        turn(&mut stream, &Messages::new().parse(&format!("statement_{n}"), &text, &[]).sync())?;
    }
    Ok(stream)
}

/// Prepares some short statements, different ones for each `look`.
pub(super) fn prepare_few(client: &mut RawClient, look: usize) -> Result<()> {
    let name = |n: usize| format!("few_{look}_{n}");
    (0..100).try_for_each(|n| {
        let text = format!("select {look} + {n}");
        turn(client, &Messages::new().parse(&name(n), &text, &[]).sync())
    })
}

fn turn(client: &mut RawClient, messages: &Messages) -> Result<()> {
    let answers = client.turn(messages)?;
    ensure!(answers.iter().all(|frame| frame.tag != b'E'), "an error: {answers:?}");
    Ok(())
}

fn render(kinds: &[Kind], figures: &Figures) -> String {
    let megabytes = STATEMENTS * TEXT_BYTES / 1_000_000;
    let columns = ["contender", "held by clients, MB", "after they have left, MB"];
    let mut text = format!(
        "\n### {megabytes} MB of distinct prepared statements\n\n{}",
        head(&columns.map(str::to_owned), 1)
    );
    for kind in kinds {
        let mb = |key| show(figures.median(key, *kind).map(|bytes| bytes / 1e6), 1);
        text.push_str(&row([kind.to_string(), mb(HELD), mb(LEFT)]));
    }
    text + &format!(
        "\nGrowth of the proxy's resident memory: {STATEMENTS} statements of {TEXT_BYTES} bytes each, and {} s later.\n",
        REST.as_secs()
    )
}
