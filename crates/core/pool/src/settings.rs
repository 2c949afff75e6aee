use std::time::Duration;

/// When a server connection is given back: PgBouncer's three modes, and one of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMode {
    /// When the client leaves.
    Session,
    /// When the transaction ends.
    Transaction,
    /// When the statement ends; transaction blocks are refused.
    Statement,
    /// When the transaction ends, and the client has left nothing on it that cannot be carried to another.
    Auto,
}

/// What one pool (one database and user) may use, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// When a server connection is given back.
    pub mode: PoolMode,
    /// Server connections at most (without the reserve).
    pub size: u32,
    /// Server connections kept open even when nobody asks.
    pub min_size: u32,
    /// Further connections once a client waited `reserve_timeout`.
    pub reserve_size: u32,
    /// How long the longest waiter waits before the reserve is used.
    pub reserve_timeout: Duration,
    /// How long a client waits for a server connection; `None`: for ever.
    pub query_wait_timeout: Option<Duration>,
    /// An idle connection above `min_size` is closed after this; `None`: never.
    pub server_idle_timeout: Option<Duration>,
    /// A connection is closed at the first chance after this age; `None`: never.
    pub server_lifetime: Option<Duration>,
    /// After a failed login no further one is tried for this long; doubled with each further failure.
    pub login_retry: Duration,
    /// The longest such wait.
    pub login_retry_max: Duration,
    /// An idle connection is checked before use when it has been idle this long; zero: before each use.
    pub check_delay: Duration,
    /// Take the connection that was idle longest instead of the one used last.
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
