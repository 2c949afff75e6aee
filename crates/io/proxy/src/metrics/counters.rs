//! What is counted for each pool and each server.

use super::atomics::{Counter, Gauge};
use super::exposition::Kind;

/// How a field of a set of counters is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// The metric. Neighbouring fields of one metric differ in their label.
    pub(super) metric: &'static str,
    /// What it means.
    pub(super) help: &'static str,
    /// A label that tells fields of one metric apart.
    pub(super) label: Option<(&'static str, &'static str)>,
    /// Counter or gauge.
    pub(super) kind: Kind,
    /// Counted in microseconds, shown in seconds.
    pub(super) micros: bool,
}

/// A set of counters whose fields can be shown and summed.
pub(super) trait CounterSet: Default + Send + Sync {
    /// One entry for each field.
    const SHOWN: &'static [Shown];

    /// The fields' values, in the order of `SHOWN`.
    fn values(&self) -> Vec<i64>;
}

macro_rules! counter_set {
    (@kind Counter) => { (Kind::Counter, false) };
    (@kind Micros) => { (Kind::Counter, true) };
    (@kind Gauge) => { (Kind::Gauge, false) };
    (@type Gauge) => { Gauge };
    (@type $counter:ident) => { Counter };
    (@label) => { None };
    (@label $label:literal $value:literal) => { Some(($label, $value)) };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $field:ident: $kind:ident = $metric:literal $(, $label:literal = $value:literal)?; $help:literal, )*
        }
    ) => {
        $(#[$meta])*
        // A line of its own: two workers' sets never share one.
        #[repr(align(64))]
        #[derive(Debug, Default)]
        pub struct $name { $( #[doc = $help] $(#[$doc])* pub $field: counter_set!(@type $kind), )* }

        impl CounterSet for $name {
            const SHOWN: &'static [Shown] = &[$({
                let (kind, micros) = counter_set!(@kind $kind);
                Shown { metric: $metric, help: $help, label: counter_set!(@label $($label $value)?), kind, micros }
            }),*];

            fn values(&self) -> Vec<i64> {
                vec![$( i64::try_from(self.$field.value()).unwrap_or(i64::MAX) ),*]
            }
        }
    };
}

counter_set! {
    /// What one worker counts for the pool of one database and one user.
    pub struct PoolCounters {
        turns: Counter = "trunkline_turns_total"; "Turns answered: a turn is what a client sends up to a Sync, or one Query.",
        transactions: Counter = "trunkline_transactions_total"; "Transactions ended.",
        client_bytes_in: Counter = "trunkline_client_bytes_total", "direction" = "in"; "Bytes exchanged with clients.",
        client_bytes_out: Counter = "trunkline_client_bytes_total", "direction" = "out"; "Bytes exchanged with clients.",
        server_bytes_in: Counter = "trunkline_server_bytes_total", "direction" = "in"; "Bytes exchanged with servers.",
        server_bytes_out: Counter = "trunkline_server_bytes_total", "direction" = "out"; "Bytes exchanged with servers.",
        /// In microseconds.
        wait_us: Micros = "trunkline_wait_seconds_total"; "Time clients waited for a server connection.",
        /// In microseconds.
        query_us: Micros = "trunkline_query_seconds_total"; "Time servers took to answer turns.",
        /// In microseconds.
        transaction_us: Micros = "trunkline_transaction_seconds_total"; "Time clients held server connections.",
        clients_active: Gauge = "trunkline_clients", "state" = "active"; "Clients logged in, by what they do.",
        clients_waiting: Gauge = "trunkline_clients", "state" = "waiting"; "Clients logged in, by what they do.",
        clients_idle: Gauge = "trunkline_clients", "state" = "idle"; "Clients logged in, by what they do.",
        servers_active: Gauge = "trunkline_servers", "state" = "active"; "Server connections, by what they do.",
        servers_idle: Gauge = "trunkline_servers", "state" = "idle"; "Server connections, by what they do.",
        servers_connecting: Gauge = "trunkline_servers", "state" = "connecting"; "Server connections, by what they do.",
        server_logins: Counter = "trunkline_server_logins_total"; "Server connections made.",
        prepare_cache_hit: Counter = "trunkline_prepare_cache_hit_total"; "Parse messages answered without the server.",
        prepare_cache_miss: Counter = "trunkline_prepare_cache_miss_total"; "Statements prepared on a server connection.",
        prepare_evictions: Counter = "trunkline_prepare_evictions_total"; "Statements closed on a server connection to make room.",
        cancels: Counter = "trunkline_cancels_total"; "Cancel requests passed on.",
    }
}

counter_set! {
    /// What one worker counts for one server (host and port).
    pub struct ServerCounters {
        turns: Counter = "trunkline_server_turns_total"; "Turns answered by this server.",
        connections: Gauge = "trunkline_server_connections"; "Connections to this server.",
        prepare_cache_hit: Counter = "trunkline_server_prepare_cache_hit_total"; "Parse messages this server was spared.",
        prepare_cache_miss: Counter = "trunkline_server_prepare_cache_miss_total"; "Statements prepared on this server.",
        prepare_evictions: Counter = "trunkline_server_prepare_evictions_total"; "Statements closed on this server to make room.",
        login_failures: Counter = "trunkline_server_login_failures_total"; "Connections to this server that failed before they were ready.",
        lost: Counter = "trunkline_server_lost_total"; "Connections this server ended unasked.",
    }
}

macro_rules! kinds {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// The value of the metric's label, for each kind in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The value of the metric's label.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

kinds! {
    /// A timeout that struck. The word is the setting's name.
    pub enum TimeoutKind {
        /// No server connection came free.
        QueryWait = "query_wait_timeout",
        /// A query ran too long.
        Query = "query_timeout",
        /// A client did nothing inside a transaction.
        IdleTransaction = "idle_transaction_timeout",
        /// A client did nothing.
        ClientIdle = "client_idle_timeout",
        /// A client did not log in.
        ClientLogin = "client_login_timeout",
        /// A server connection went unused.
        ServerIdle = "server_idle_timeout",
        /// A server connection grew old.
        ServerLifetime = "server_lifetime",
        /// A server did not answer a connection attempt.
        ServerConnect = "server_connect_timeout",
        /// A cancel request found no way to the server.
        CancelWait = "cancel_wait_timeout",
        /// A server did not end the turn of a client that was gone.
        AbandonedTurn = "abandoned_turn_timeout",
        /// Clients did not leave before the shutdown.
        Shutdown = "shutdown_timeout",
    }
}

kinds! {
    /// Something that went wrong.
    pub enum FaultKind {
        /// A client's password was wrong, or its user or database unknown.
        ClientLoginFailed = "client_login_failed",
        /// A client broke the protocol.
        ClientProtocolViolation = "client_protocol_violation",
        /// A client went away in a transaction or a turn.
        ClientLost = "client_lost",
        /// A client's TLS handshake failed.
        ClientTlsFailed = "client_tls_failed",
        /// A server refused our login.
        ServerLoginFailed = "server_login_failed",
        /// A server broke the protocol.
        ServerProtocolViolation = "server_protocol_violation",
        /// A server went away unasked.
        ServerLost = "server_lost",
        /// A server's TLS handshake failed.
        ServerTlsFailed = "server_tls_failed",
        /// A server connection was closed because it could not be known to be clean.
        ServerDirty = "server_dirty",
        /// A connection could not be accepted (out of file descriptors, say).
        AcceptFailed = "accept_failed",
        /// A reload was refused: the configuration has errors.
        ReloadRefused = "reload_refused",
    }
}

kinds! {
    /// A bound that was reached. The word is the setting's name.
    pub enum LimitKind {
        /// Client connections at once.
        MaxClientConn = "max_client_conn",
        /// Connections that have not logged in.
        UnauthenticatedConn = "unauthenticated_conn_max",
        /// Bytes of a start-up packet.
        StartupPacketBytes = "startup_packet_bytes_max",
        /// Bytes of a message.
        MessageBytes = "message_bytes_max",
        /// Reading from a client was paused.
        ClientBufferBytes = "client_buffer_bytes",
        /// Reading from a server was paused.
        ServerBufferBytes = "server_buffer_bytes",
        /// Reading from a client was paused until a turn is answered.
        OutstandingTurns = "outstanding_turns_max",
        /// A statement had to leave a server connection.
        MaxPreparedStatements = "max_prepared_statements",
        /// A statement was too long to be followed.
        PreparedStatementBytes = "prepared_statement_bytes_max",
        /// A statement had to leave the registry, or found no room.
        PreparedRegistryBytes = "prepared_registry_bytes_max",
        /// A client prepared too many statements.
        ClientPreparedStatements = "client_prepared_statements_max",
        /// A peer asked for too many SCRAM iterations.
        ScramIterations = "scram_iterations_max",
        /// A cancel request was dropped.
        CancelRequests = "cancel_requests_max",
        /// A client waited because its pool was full.
        PoolSize = "pool_size",
        /// A client waited because its database has enough connections.
        MaxDbConnections = "max_db_connections",
        /// A client waited because its user has enough connections.
        MaxUserConnections = "max_user_connections",
        /// A client was refused: its database has enough clients.
        MaxDbClientConnections = "max_db_client_connections",
        /// A client was refused: its user has enough clients.
        MaxUserClientConnections = "max_user_client_connections",
    }
}

/// What is counted for the whole process. These events are rare enough for all workers to share one set.
#[derive(Debug, Default)]
pub struct ProcessCounters {
    /// Connections accepted.
    pub accepted: Counter,
    /// Client connections open, logged in or not.
    pub clients: Gauge,
    /// Client connections that have not logged in yet.
    pub unauthenticated: Gauge,
    /// Statements in the registry.
    pub prepared_statements: Gauge,
    /// Bytes they take.
    pub prepared_bytes: Gauge,
    timeouts: [Counter; TimeoutKind::WORDS.len()],
    faults: [Counter; FaultKind::WORDS.len()],
    limits: [Counter; LimitKind::WORDS.len()],
}

impl ProcessCounters {
    /// A timeout struck.
    pub fn timeout(&self, kind: TimeoutKind) {
        self.timeouts[kind as usize].increment();
    }

    /// Something went wrong.
    pub fn fault(&self, kind: FaultKind) {
        self.faults[kind as usize].increment();
    }

    /// A bound was reached.
    pub fn limit(&self, kind: LimitKind) {
        self.limits[kind as usize].increment();
    }

    /// Each timeout with how often it struck.
    pub fn timeouts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        with_words(TimeoutKind::WORDS, &self.timeouts)
    }

    /// Each fault with how often it happened.
    pub fn faults(&self) -> impl Iterator<Item = (&'static str, u64)> {
        with_words(FaultKind::WORDS, &self.faults)
    }

    /// Each bound with how often it was reached.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, u64)> {
        with_words(LimitKind::WORDS, &self.limits)
    }
}

fn with_words<'c>(
    words: &'static [&'static str],
    counters: &'c [Counter],
) -> impl Iterator<Item = (&'static str, u64)> + use<'c> {
    words.iter().copied().zip(counters.iter().map(Counter::value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema;

    #[test]
    fn every_bound_and_timeout_has_a_metric_of_its_name() {
        // Not bounds that are reached: how keepalive works, and a pause between attempts.
        let exempt = |name: &str| {
            name.starts_with("tcp_") || name.starts_with("server_login_retry") || name == "server_check_delay"
        };
        for key in schema::keys() {
            let counted = TimeoutKind::WORDS.contains(&key.name) || LimitKind::WORDS.contains(&key.name);
            if matches!(key.table, "limits" | "timeouts") && !exempt(key.name) {
                assert!(counted, "{} has no metric", key.name);
            }
        }
        let settings: Vec<&str> = schema::keys().iter().map(|key| key.name).collect();
        for word in TimeoutKind::WORDS.iter().chain(LimitKind::WORDS) {
            assert!(settings.contains(word), "{word} is counted but is no setting");
        }
    }

    #[test]
    fn each_kind_counts_under_its_own_word() {
        let process = ProcessCounters::default();
        process.limit(LimitKind::ScramIterations);
        process.timeout(TimeoutKind::Query);
        process.fault(FaultKind::ServerLost);
        let counted = |mut kinds: Vec<(&'static str, u64)>| {
            kinds.retain(|(_, count)| *count > 0);
            kinds
        };
        assert_eq!(counted(process.limits().collect()), [(LimitKind::ScramIterations.word(), 1)]);
        assert_eq!(counted(process.timeouts().collect()), [(TimeoutKind::Query.word(), 1)]);
        assert_eq!(counted(process.faults().collect()), [(FaultKind::ServerLost.word(), 1)]);
    }
}
