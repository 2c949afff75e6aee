//! `[timeouts]`: bounds on time. `None` is "no limit" (0 in the file).

use std::time::Duration;

use super::section::section;

const fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

section! {
    /// `[timeouts]`.
    pub struct Timeouts {
        /// How long a client waits for a server connection.
        query_wait_timeout: Option<Duration> = seconds(120),
        /// How long a query may run.
        query_timeout: Option<Duration> = None,
        /// How long a client may do nothing inside a transaction.
        idle_transaction_timeout: Option<Duration> = None,
        /// How long a client may do nothing outside a transaction.
        client_idle_timeout: Option<Duration> = None,
        /// How long a client may do nothing that keeps a server connection in `auto` mode.
        pin_idle_timeout: Option<Duration> = None,
        /// How long a server connection may go unused.
        server_idle_timeout: Option<Duration> = seconds(600),
        /// The greatest age of a server connection.
        server_lifetime: Option<Duration> = seconds(3600),
        /// How long connecting and logging in to a server may take.
        server_connect_timeout: Option<Duration> = seconds(15),
        /// How long to wait after a failed connection before the next attempt. Each further failure doubles the wait.
        [NoBound]
        server_login_retry: Duration = Duration::from_secs(1),
        /// The longest wait between attempts.
        [NoBound]
        server_login_retry_max: Duration = Duration::from_secs(15),
        /// How long a server connection may be idle and still be lent without a check; `None`: it is always checked.
        [NoBound]
        server_check_delay: Option<Duration> = seconds(30),
        /// How long clients that parse the same text share a prepared statement, if Trunkline sees no schema change.
        prepared_statement_lifetime: Option<Duration> = seconds(300),
        /// How long a cancel request may wait for a connection to the server.
        cancel_wait_timeout: Option<Duration> = seconds(10),
        /// How long a shutdown by TERM waits for clients before it closes them.
        shutdown_timeout: Option<Duration> = None,
        /// How long a server may take to end a turn whose client is gone, after the turn was cancelled.
        abandoned_turn_timeout: Duration = Duration::from_secs(5),
        /// How long Trunkline keeps a pool that has neither clients nor server connections.
        pool_idle_timeout: Option<Duration> = seconds(3600),
        /// Whether the kernel probes idle TCP connections.
        [RestartAs("timeouts.tcp_*")]
        tcp_keepalive: bool = true,
        /// Idle time before the first probe; `None`: the system's default.
        [RestartAs("timeouts.tcp_*"), NoBound]
        tcp_keepidle: Option<Duration> = None,
        /// Time between probes; `None`: the system's default.
        [RestartAs("timeouts.tcp_*"), NoBound]
        tcp_keepintvl: Option<Duration> = None,
        /// Unanswered probes before the connection counts as dead; 0: the system's default.
        [RestartAs("timeouts.tcp_*"), NoBound]
        tcp_keepcnt: u32 = 0,
        /// How long sent bytes may stay unacknowledged; `None`: the system's default.
        [RestartAs("timeouts.tcp_*"), NoBound]
        tcp_user_timeout: Option<Duration> = None,
    }
}
