use std::time::Duration;

/// When a client gives its server connection back: PgBouncer's three modes, and one of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMode {
    /// When the client leaves.
    Session,
    /// When the transaction ends.
    Transaction,
    /// When the statement ends. Transaction blocks are refused.
    Statement,
    /// When the transaction ends, and the client has left nothing on it that cannot be carried to another.
    Auto,
}

/// The sizes and timeouts of one pool (one database and user).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// When a client gives its server connection back.
    pub mode: PoolMode,
    /// Maximum number of server connections, without the reserve.
    pub size: u32,
    /// Number of server connections that are kept open even if no client needs them.
    pub min_size: u32,
    /// How many more connections may be opened once a client has waited for `reserve_timeout`.
    pub reserve_size: u32,
    /// How long the first client of the queue must have waited before the reserve may be used.
    pub reserve_timeout: Duration,
    /// How long a client waits for a server connection; `None`: for ever.
    pub query_wait_timeout: Option<Duration>,
    /// A connection that was idle for this long is closed, down to `min_size` connections; `None`: never.
    pub server_idle_timeout: Option<Duration>,
    /// A connection of this age is closed as soon as no client has it; `None`: never.
    pub server_lifetime: Option<Duration>,
    /// How long no new login to the server is tried after a failed one. Each further failure doubles this time.
    pub login_retry: Duration,
    /// The upper bound of that doubling.
    pub login_retry_max: Duration,
    /// A connection that was idle for this long is checked before it is lent; zero: each time.
    pub check_delay: Duration,
    /// Lend the connection that was idle longest. Otherwise the one that was used last is lent.
    pub round_robin: bool,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self {
            mode: PoolMode::Transaction,
            size: 20,
            min_size: 0,
            reserve_size: 0,
            reserve_timeout: Duration::from_secs(5),
            query_wait_timeout: Some(Duration::from_secs(120)),
            server_idle_timeout: Some(Duration::from_secs(600)),
            server_lifetime: Some(Duration::from_secs(3600)),
            login_retry: Duration::from_secs(1),
            login_retry_max: Duration::from_secs(15),
            check_delay: Duration::from_secs(30),
            round_robin: false,
        }
    }
}
