//! The workers' figures, added up.

use std::collections::BTreeMap;

use trunkline_relay::Counters;
use trunkline_relay::board::{BoardStatus, PoolStatus};

use crate::worker::Report;

/// One pool over all workers.
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

/// All workers' figures.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// By database and user.
    pub(super) pools: BTreeMap<(String, String), PoolFigures>,
    /// Hits and misses of the prepared statements, by database and the server's process id.
    pub(super) servers: BTreeMap<(String, i32), (u64, u64)>,
    /// Connections; `prepared_by_server` is left empty, see `servers`.
    pub(super) board: BoardStatus,
}

impl Figures {
    /// Adds up what each worker reports.
    pub(super) fn sum(reports: &[Report]) -> Self {
        let mut figures = Self::default();
        for report in reports {
            for pool in &report.pools {
                figures.pools.entry((pool.database.clone(), pool.user.clone())).or_default().add(pool);
            }
            // Some servers give no process id; those of one database are one.
            for (process_id, database, hits, misses) in &report.board.prepared_by_server {
                let sum = figures.servers.entry((database.clone(), *process_id)).or_default();
                sum.0 += hits;
                sum.1 += misses;
            }
            add_board(&mut figures.board, &report.board);
        }
        figures
    }
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
        let (sum, counters) = (&mut self.counters, &pool.counters);
        sum.turns += counters.turns;
        sum.transactions += counters.transactions;
        sum.client_bytes += counters.client_bytes;
        sum.server_bytes += counters.server_bytes;
        sum.wait_us += counters.wait_us;
        sum.turn_us += counters.turn_us;
        sum.prepare_cache_hit += counters.prepare_cache_hit;
        sum.prepare_cache_miss += counters.prepare_cache_miss;
        sum.prepared_evicted += counters.prepared_evicted;
        sum.replays += counters.replays;
        sum.server_errors += counters.server_errors;
        sum.cancels += counters.cancels;
        sum.opened += counters.opened;
        sum.open_failed += counters.open_failed;
        sum.lost += counters.lost;
        sum.handed_on += counters.handed_on;
    }
}

fn add_board(sum: &mut BoardStatus, board: &BoardStatus) {
    sum.clients_login += board.clients_login;
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
    sum.logins_waiting += board.logins_waiting;
    sum.logins_failed += board.logins_failed;
    sum.protocol_violations += board.protocol_violations;
}
