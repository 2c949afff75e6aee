//! The report's tables. Each measures its figures and renders itself.

mod burst;
mod connections;
mod goals;
mod idle;
mod large;
mod statements;
mod storm;
mod transactions;
mod workers;

use anyhow::Result;

use crate::arguments::Options;
use crate::contender::{Ground, Kind, Route, Running, Setting};
use crate::figures::Figures;

/// The names by which the chart finds its figures.
pub(crate) mod charted {
    pub(crate) use super::transactions::{CLIENTS, PROTOCOL, TITLE, cpu_column};
}

/// Keys of the goals, which several tables share.
pub(crate) mod keys {
    pub(crate) use super::connections::{LOOP, PGBENCH};
    pub(crate) use super::idle::{AFTER_BURST, AFTER_LOGIN, AFTER_QUERY};
    pub(crate) use super::large::SHAPES;
    pub(crate) use super::statements::HELD;
    pub(crate) use super::storm::WAIT;
    pub(crate) use super::transactions::cell;
}

/// A table, in the report's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    /// CPU and throughput of small transactions.
    Transactions,
    /// The same, with a unix socket to the server.
    Unix,
    /// Two workers compared with one.
    Workers,
    /// Memory of idle clients.
    Idle,
    /// Connection rate.
    Connections,
    /// Waits of logged-in clients while thousands log in.
    Storm,
    /// Large results.
    Large,
    /// Memory of distinct statements.
    Statements,
    /// Memory after a burst.
    Burst,
    /// Ratios and their goals.
    Goals,
}

impl Table {
    /// Every table.
    pub(crate) const ALL: [Self; 10] = [
        Self::Transactions,
        Self::Unix,
        Self::Workers,
        Self::Idle,
        Self::Connections,
        Self::Storm,
        Self::Large,
        Self::Statements,
        Self::Burst,
        Self::Goals,
    ];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Transactions => "transactions",
            Self::Unix => "unix",
            Self::Workers => "workers",
            Self::Idle => "idle",
            Self::Connections => "connections",
            Self::Storm => "storm",
            Self::Large => "large",
            Self::Statements => "statements",
            Self::Burst => "burst",
            Self::Goals => "goals",
        }
    }

    /// Measures and renders. The text begins with a blank line and a heading.
    ///
    /// # Errors
    /// When a contender does not start, or a run fails.
    pub(crate) fn report(self, ground: &Ground, options: &Options, figures: &mut Figures) -> Result<String> {
        match self {
            Self::Transactions => {
                transactions::report(ground, options, Route::Tcp, &options.clients, figures)
            }
            Self::Unix => transactions::report(ground, options, Route::Unix, &[10], figures),
            Self::Workers => workers::report(ground, options, figures),
            Self::Idle => idle::report(ground, options, figures),
            Self::Connections => connections::report(ground, options, figures),
            Self::Storm => storm::report(ground, options, figures),
            Self::Large => large::report(ground, options, figures),
            Self::Statements => statements::report(ground, options, figures),
            Self::Burst => burst::report(ground, options, figures),
            Self::Goals => Ok(goals::report(options, figures)),
        }
    }
}

/// Starts the chosen contenders for which `takes_part` is true.
fn start(
    ground: &Ground,
    options: &Options,
    route: Route,
    takes_part: impl Fn(Kind) -> bool,
) -> Result<Vec<Running>> {
    let wanted = options.kinds.iter().copied().filter(|kind| takes_part(*kind));
    let setting = Setting { route, cpu: options.cpu, ..Setting::default() };
    wanted.map(|kind| ground.start(kind, setting)).collect()
}
