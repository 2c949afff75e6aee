//! A pool's figures.

use crate::counters::Counters;

/// The name, as database and as user, under which the figures of pools stand that have none of their own in metrics.
pub const NAMELESS: &str = "*";

/// A pool's figures, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolStatus {
    /// The database's name as clients use it.
    pub database: String,
    /// The user on the server.
    pub user: String,
    /// Clients logged in (all workers).
    pub clients: u32,
    /// Clients waiting here.
    pub waiting: usize,
    /// Clients here that hold a server connection.
    pub clients_active: u64,
    /// Clients here that do not, and do not wait for one.
    pub clients_idle: u64,
    /// Server connections (all workers).
    pub servers: u32,
    /// Idle server connections here.
    pub idle: usize,
    /// Server connections here that clients hold.
    pub servers_active: u64,
    /// Server connections here that are being cleaned, checked or drained.
    pub servers_busy: u64,
    /// Server connections being opened here.
    pub opening: u32,
    /// How long the first in the queue waits here, in microseconds.
    pub max_wait_us: u64,
    /// What was counted here.
    pub counters: Counters,
}

impl PoolStatus {
    pub(in crate::board) fn nameless(counters: Counters) -> Self {
        let name = NAMELESS.to_owned();
        Self { database: name.clone(), user: name, counters, ..Self::default() }
    }

    /// Takes the figures of another pool of this worker in; not what all workers have together.
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
