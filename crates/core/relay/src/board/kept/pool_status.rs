//! The figures of one pool, for metrics.

use crate::counters::Counters;

/// The name (of the database and of the user) under which metrics show all pools together that they do not show by name.
pub const NAMELESS: &str = "*";

/// The figures of one pool. "Here" means in the worker that gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolStatus {
    /// The database's name as clients use it.
    pub database: String,
    /// The user on the server.
    pub user: String,
    /// Logged-in clients of the pool's database (all its pools, all workers).
    pub clients: u32,
    /// Clients here that wait for a server connection.
    pub waiting: usize,
    /// Clients here that have a server connection.
    pub clients_active: u64,
    /// Clients here that have no server connection and do not wait for one.
    pub clients_idle: u64,
    /// Server connections (all workers).
    pub servers: u32,
    /// Idle server connections here.
    pub idle: usize,
    /// Server connections here that are lent to clients.
    pub servers_active: u64,
    /// Server connections here that are being cleaned or checked, or that finish a turn whose client has left.
    pub servers_busy: u64,
    /// Server connections that are being opened here.
    pub opening: u32,
    /// How long the first client of the queue here has waited, in microseconds.
    pub max_wait_us: u64,
    /// The counters of this worker.
    pub counters: Counters,
}

impl PoolStatus {
    pub(in crate::board) fn nameless(counters: Counters) -> Self {
        let name = NAMELESS.to_owned();
        Self { database: name.clone(), user: name, counters, ..Self::default() }
    }

    /// Adds the figures of another pool of this worker, except those of all workers.
    pub(in crate::board) fn add(&mut self, other: &Self) {
        self.waiting += other.waiting;
        self.clients_active += other.clients_active;
        self.clients_idle += other.clients_idle;
        self.idle += other.idle;
        self.servers_active += other.servers_active;
        self.servers_busy += other.servers_busy;
        self.opening += other.opening;
        self.max_wait_us = self.max_wait_us.max(other.max_wait_us);
        self.counters.add(&other.counters);
    }
}
