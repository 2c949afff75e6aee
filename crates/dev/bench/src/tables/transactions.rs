//! CPU time of the proxy for a small transaction, and throughput.

use anyhow::Result;

use crate::arguments::Options;
use crate::contender::{Ground, Kind, Route, Setting};
use crate::figures::{Figures, head, row, show};
use crate::pgbench::{self, Load, Protocol};

/// The key of a cell's figures: `figure` is `cpu` or `rate`.
pub(crate) fn cell(route: Route, protocol: Protocol, clients: usize, figure: &str) -> String {
    let route = match route {
        Route::Tcp => "tcp",
        Route::Unix => "unix",
    };
    format!("transactions/{route}/{}/{clients}/{figure}", protocol.name())
}

/// The table's title if the server is reached by TCP.
pub(crate) const TITLE: &str = "Small transactions (pgbench -S)";
/// The title of its column of protocols.
pub(crate) const PROTOCOL: &str = "protocol";
/// The title of its column with the number of clients.
pub(crate) const CLIENTS: &str = "clients";

/// The title of its column with a contender's CPU time.
pub(crate) fn cpu_column(kind: Kind) -> String {
    format!("{kind}, CPU us")
}

/// Measures every protocol with every number of clients.
pub(super) fn report(
    ground: &Ground,
    options: &Options,
    route: Route,
    clients: &[usize],
    figures: &mut Figures,
) -> Result<String> {
    // A direct connection has no route from a proxy to the server.
    let mut contenders =
        super::start(ground, options, route, |kind| kind != Kind::Direct || route == Route::Tcp)?;
    if options.kinds.contains(&Kind::Trunkline) {
        let setting = Setting { route, cpu: options.cpu, ..Setting::default() };
        contenders.push(ground.start(Kind::OneWorker, setting)?);
    }
    for _ in 0..options.repetitions {
        for protocol in Protocol::ALL {
            for &clients in clients {
                let load = Load { protocol, clients, reconnect: false, seconds: options.seconds };
                for contender in &contenders {
                    let outcome = pgbench::run(ground, contender, load)?;
                    figures.add(&cell(route, protocol, clients, "cpu"), contender.kind, outcome.micros());
                    figures.add(&cell(route, protocol, clients, "rate"), contender.kind, Some(outcome.rate));
                }
            }
        }
    }
    let kinds: Vec<Kind> = contenders.iter().map(|contender| contender.kind).collect();
    Ok(render(&kinds, route, clients, figures))
}

fn render(kinds: &[Kind], route: Route, clients: &[usize], figures: &Figures) -> String {
    let title = match route {
        Route::Tcp => TITLE,
        Route::Unix => "The same, the server reached by unix socket",
    };
    let proxies: Vec<Kind> = kinds.iter().copied().filter(|kind| *kind != Kind::Direct).collect();
    let mut columns = vec![PROTOCOL.to_owned(), CLIENTS.to_owned()];
    columns.extend(proxies.iter().copied().map(cpu_column));
    columns.push("Trunkline / PgBouncer".to_owned());
    columns.extend(kinds.iter().map(|kind| format!("{kind}, tps")));
    let mut text = format!("\n### {title}\n\n{}", head(&columns, 1));
    for protocol in Protocol::ALL {
        for &clients in clients {
            let cpu = cell(route, protocol, clients, "cpu");
            let rate = cell(route, protocol, clients, "rate");
            let mut cells = vec![protocol.name().to_owned(), clients.to_string()];
            cells.extend(proxies.iter().map(|kind| show(figures.median(&cpu, *kind), 2)));
            cells.push(show(figures.ratio(&cpu, Kind::Trunkline, Kind::PgBouncer), 2));
            cells.extend(kinds.iter().map(|kind| show(figures.median(&rate, *kind), 0)));
            text.push_str(&row(cells));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{CHARTED_CLIENTS, CHARTED_KINDS, Chart};

    #[test]
    fn the_chart_can_read_the_table_back() {
        let mut figures = Figures::default();
        for protocol in Protocol::ALL {
            for clients in CHARTED_CLIENTS {
                for kind in CHARTED_KINDS {
                    figures.add(&cell(Route::Tcp, protocol, clients, "cpu"), kind, Some(1234.5));
                }
            }
        }
        let text = render(&CHARTED_KINDS, Route::Tcp, &CHARTED_CLIENTS, &figures);
        Chart::read(&text).expect("the chart's columns and rows");
        let other = render(&CHARTED_KINDS, Route::Unix, &CHARTED_CLIENTS, &figures);
        Chart::read(&other).expect_err("a table of another name");
    }

    #[test]
    fn a_table_has_the_medians_and_the_ratio() {
        let mut figures = Figures::default();
        let cpu = cell(Route::Tcp, Protocol::Simple, 10, "cpu");
        figures.add(&cpu, Kind::PgBouncer, Some(10.0));
        figures.add(&cpu, Kind::Trunkline, Some(8.0));
        figures.add(&cell(Route::Tcp, Protocol::Simple, 10, "rate"), Kind::Direct, Some(43_210.0));
        let text = render(&[Kind::Direct, Kind::PgBouncer, Kind::Trunkline], Route::Tcp, &[10], &figures);
        assert!(text.contains("| simple | 10 | 10.00 | 8.00 | 0.80 | 43,210 | - | - |"), "{text}");
    }
}
