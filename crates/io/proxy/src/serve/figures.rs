//! The workers' figures, added up.

use std::collections::BTreeMap;

use trunkline_relay::board::{BoardStatus, PoolStatus};
use trunkline_relay::{Counters, shorten_name};

use crate::logging::escape::write_escaped;
use crate::worker::Report;

/// The figures of one pool, of all workers together.
#[derive(Debug, Default)]
pub(super) struct PoolFigures {
    pub(super) clients_active: u64,
    pub(super) clients_idle: u64,
    pub(super) clients_waiting: u64,
    pub(super) servers_active: u64,
    pub(super) servers_idle: u64,
    pub(super) servers_busy: u64,
    pub(super) servers_opening: u64,
    pub(super) max_wait_us: u64,
    pub(super) counters: Counters,
}

/// The figures of all workers together.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// By database and user.
    pub(super) pools: BTreeMap<(String, String), PoolFigures>,
    /// Hits and misses of the prepared statements, by database and the server's process id.
    pub(super) servers: BTreeMap<(String, i32), (u64, u64)>,
    /// Figures of connections. `prepared_by_server` stays empty, because `servers` has these figures.
    pub(super) board: BoardStatus,
}

impl Figures {
    /// Adds up the workers' reports.
    pub(super) fn sum(reports: &[Report]) -> Self {
        let mut figures = Self::default();
        for report in reports {
            for pool in &report.pools {
                figures.pools.entry((label(&pool.database), label(&pool.user))).or_default().add(pool);
            }
            // Servers that give no process id have 0; those of one database are added up.
            for (process_id, database, hits, misses) in &report.board.prepared_by_server {
                let sum = figures.servers.entry((label(database), *process_id)).or_default();
                sum.0 += hits;
                sum.1 += misses;
            }
            add_board(&mut figures.board, &report.board);
        }
        figures
    }
}

/// A name as a label: cut to the length of a PostgreSQL name, and escaped into one line for readers that split lines in
/// other places than Prometheus does. Different names can become the same label. Their figures are then added up,
/// because a page with the same sample twice is invalid.
fn label(name: &str) -> String {
    let mut label = String::new();
    // Writing into a String cannot fail.
    let _ = write_escaped(&mut label, &shorten_name(name));
    label
}

impl PoolFigures {
    fn add(&mut self, pool: &PoolStatus) {
        self.clients_active += pool.clients_active;
        self.clients_idle += pool.clients_idle;
        self.clients_waiting += pool.waiting as u64;
        self.servers_active += pool.servers_active;
        self.servers_idle += pool.idle as u64;
        self.servers_busy += pool.servers_busy;
        self.servers_opening += u64::from(pool.opening);
        self.max_wait_us = self.max_wait_us.max(pool.max_wait_us);
        self.counters.add(&pool.counters);
    }
}

fn add_board(sum: &mut BoardStatus, board: &BoardStatus) {
    sum.clients_login += board.clients_login;
    sum.clients_pinned.iter_mut().zip(board.clients_pinned).for_each(|(sum, pinned)| *sum += pinned);
    sum.clients_idle += board.clients_idle;
    sum.clients_waiting += board.clients_waiting;
    sum.clients_active += board.clients_active;
    sum.servers_login += board.servers_login;
    sum.servers_idle += board.servers_idle;
    sum.servers_active += board.servers_active;
    sum.servers_busy += board.servers_busy;
    sum.client_unsent_bytes += board.client_unsent_bytes;
    sum.server_unsent_bytes += board.server_unsent_bytes;
    sum.cancels += board.cancels;
    sum.auth_cache_bytes += board.auth_cache_bytes;
    sum.logins_waiting += board.logins_waiting;
    sum.logins_failed += board.logins_failed;
    sum.protocol_violations += board.protocol_violations;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_the_same_label_are_one_sample() {
        let long = |end: &str| format!("{}{end}", "x".repeat(70));
        let pools = ["a\rb", r"a\rb", &long("1"), &long("2")].map(|database| PoolStatus {
            database: database.to_owned(),
            user: "u".to_owned(),
            clients_idle: 1,
            ..PoolStatus::default()
        });
        let figures = Figures::sum(&[Report { pools: pools.into(), board: BoardStatus::default() }]);
        let shown: Vec<(&str, u64)> = figures
            .pools
            .iter()
            .map(|((database, _), pool)| (database.as_str(), pool.clients_idle))
            .collect();
        assert_eq!(shown, [(r"a\rb", 2), (format!("{}...", "x".repeat(63)).as_str(), 2)]);
    }
}
