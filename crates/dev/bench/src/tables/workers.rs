//! The effect of a second worker.
//!
//! On a machine with two cores, the load generator takes most of both, so throughput cannot show this effect. CPU time can: a proxy's
//! rate is limited by its busiest thread, so this thread's time for a transaction gives the highest possible rate.

use anyhow::Result;

use crate::arguments::Options;
use crate::contender::{Ground, Kind, Setting};
use crate::figures::{Figures, head, row, show};
use crate::pgbench::{self, Load, Protocol};

const CLIENTS: usize = 100;
/// The contenders and their numbers of workers.
const TEAMS: [(Kind, usize); 3] = [(Kind::PgBouncer, 1), (Kind::Trunkline, 1), (Kind::Trunkline, 2)];

fn cell(protocol: Protocol, workers: usize, figure: &str) -> String {
    format!("workers/{}/{workers}/{figure}", protocol.name())
}

/// Measures and renders.
pub(super) fn report(ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
    let teams: Vec<(Kind, usize)> =
        TEAMS.into_iter().filter(|(kind, _)| options.kinds.contains(kind)).collect();
    let start = |&(kind, workers): &(Kind, usize)| {
        let setting = Setting { workers: Some(workers), ..Setting::default() };
        Ok((workers, ground.start(kind, setting)?))
    };
    let running: Vec<_> = teams.iter().map(start).collect::<Result<_>>()?;
    for _ in 0..options.repetitions {
        for protocol in Protocol::ALL {
            let load = Load { protocol, clients: CLIENTS, reconnect: false, seconds: options.seconds };
            for (workers, contender) in &running {
                let outcome = pgbench::run(ground, contender, load)?;
                let ceiling = outcome.busiest_micros().map(|micros| 1e6 / micros);
                let kind = contender.kind;
                figures.add(&cell(protocol, *workers, "cpu"), kind, outcome.micros());
                figures.add(&cell(protocol, *workers, "rate"), kind, Some(outcome.rate));
                figures.add(&cell(protocol, *workers, "ceiling"), kind, ceiling);
            }
        }
    }
    Ok(render(&teams, figures))
}

fn render(teams: &[(Kind, usize)], figures: &Figures) -> String {
    let columns = ["protocol", "contender", "workers", "tps", "CPU us", "busiest thread full at, tps"];
    let mut text = format!("\n### Workers ({CLIENTS} clients)\n\n{}", head(&columns.map(str::to_owned), 2));
    for protocol in Protocol::ALL {
        for (kind, workers) in teams {
            let median = |figure: &str| figures.median(&cell(protocol, *workers, figure), *kind);
            text.push_str(&row([
                protocol.name().to_owned(),
                kind.to_string(),
                workers.to_string(),
                show(median("rate"), 0),
                show(median("cpu"), 2),
                show(median("ceiling"), 0),
            ]));
        }
    }
    text + "\nThe last column is computed: 1,000,000 / CPU us of the busiest thread for a transaction. Clients, proxy \
            and PostgreSQL share this machine's cores, so the rate measured stays below it.\n"
}
