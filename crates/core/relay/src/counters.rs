//! What a pool counts. One worker writes, anybody may read a copy.

/// Monotonic counts of one pool in one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Turns answered.
    pub turns: u64,
    /// Transactions ended (ReadyForQuery with status idle).
    pub transactions: u64,
    /// Bytes passed from clients to servers.
    pub client_bytes: u64,
    /// Bytes passed from servers to clients.
    pub server_bytes: u64,
    /// Microseconds that clients waited for a server connection.
    pub wait_us: u64,
    /// Microseconds from the first byte of turns to their ends.
    pub turn_us: u64,
    /// Parse messages answered without the server.
    pub prepare_cache_hit: u64,
    /// Those for which a statement was prepared.
    pub prepare_cache_miss: u64,
    /// Statements closed on a server connection to make room.
    pub prepared_evicted: u64,
    /// Turns played again after their statement's result type changed or it was lost.
    pub replays: u64,
    /// Errors that servers reported for what clients sent, healed ones too.
    pub server_errors: u64,
    /// Cancel requests delivered to servers.
    pub cancels: u64,
    /// Server connections opened.
    pub opened: u64,
    /// Server logins that failed.
    pub open_failed: u64,
    /// Server connections lost to a fault.
    pub lost: u64,
    /// Server connections handed to another worker.
    pub handed_on: u64,
}

impl Counters {
    /// Adds what another pool, or another worker, has counted.
    pub fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.transactions += other.transactions;
        self.client_bytes += other.client_bytes;
        self.server_bytes += other.server_bytes;
        self.wait_us += other.wait_us;
        self.turn_us += other.turn_us;
        self.prepare_cache_hit += other.prepare_cache_hit;
        self.prepare_cache_miss += other.prepare_cache_miss;
        self.prepared_evicted += other.prepared_evicted;
        self.replays += other.replays;
        self.server_errors += other.server_errors;
        self.cancels += other.cancels;
        self.opened += other.opened;
        self.open_failed += other.open_failed;
        self.lost += other.lost;
        self.handed_on += other.handed_on;
    }
}
