//! `[limits]`: bounds on what peers can make Trunkline hold. The declaration of a limit also makes its metric,
//! `trunkline_limit{limit="..."}`. The comment of each setting names what is counted; the setting is the greatest number.

use std::time::Duration;

use super::section::section;
use super::units::Size;

section! {
    /// `[limits]`.
    pub struct Limits {
        /// Client connections at once, logged in or not.
        [AtLeast(1)]
        max_client_conn: u32 = 10_000,
        /// How long a client may take to log in.
        client_login_timeout: Option<Duration> = Some(Duration::from_secs(60)),
        /// Client connections whose login has not ended.
        [AtLeast(1)]
        unauthenticated_conn_max: u32 = 2_000,
        /// Bytes of a start-up packet.
        [AtLeast(256)]
        startup_packet_bytes_max: Size = Size::new(10_000),
        /// Bytes of one message after the login.
        [AtLeast(8192)]
        message_bytes_max: Size = Size::new(1 << 30),
        /// Bytes that were read from a client and are not sent to its server yet.
        [AtLeast(4096)]
        client_buffer_bytes: Size = Size::new(64 << 10),
        /// Bytes that were read from a server and are not sent to its client yet.
        [AtLeast(4096)]
        server_buffer_bytes: Size = Size::new(64 << 10),
        /// Turns that a client may send before the first one is answered.
        [AtLeast(1)]
        outstanding_turns_max: u32 = 1_000,
        /// Messages of one client that a worker handles before it serves other clients.
        [AtLeast(1)]
        round_messages_max: u32 = 1_000,
        /// Turns that a client may send on one server connection while other clients wait for a connection.
        [AtLeast(1)]
        lent_turns_max: u32 = 100,
        /// Bytes of SQL that a worker parses in a round before it serves other clients.
        [AtLeast(1)]
        round_parse_bytes_max: Size = Size::new(64 << 10),
        /// Bytes of an SQL text that Trunkline parses. It assumes that a longer text may do anything.
        classified_text_bytes_max: Size = Size::new(64 << 10),
        /// Bytes of the cache of parsed texts' classes.
        [Restart]
        statement_classes_bytes_max: Size = Size::new(4 << 20),
        /// Bytes of a turn that Trunkline keeps until the answer, so that it can send the turn again.
        replay_bytes_max: Size = Size::new(16 << 10),
        /// Prepared statements kept on each server connection; 0: prepared statements do not follow the client.
        max_prepared_statements: u32 = 200,
        /// Bytes of a Parse message whose statement follows the client. A longer message is only passed on.
        prepared_statement_bytes_max: Size = Size::new(1 << 20),
        /// Bytes of all prepared statements in the registry.
        [Restart]
        prepared_registry_bytes_max: Size = Size::new(64 << 20),
        /// Prepared statements of one client.
        client_prepared_statements_max: u32 = 10_000,
        /// Bytes of one client's prepared statements and their names.
        client_prepared_statement_bytes_max: Size = Size::new(256 << 20),
        /// SCRAM iterations that Trunkline computes for a peer. PostgreSQL's own verifiers have 4096.
        [AtLeast(4096)]
        scram_iterations_max: u32 = 100_000,
        /// Cancel requests under way at once.
        [AtLeast(1)]
        cancel_requests_max: u32 = 1_000,
        /// Pools at once; 0: no limit.
        pools_max: u32 = 10_000,
        /// Bytes of the cached results of `auth.query`.
        auth_cache_bytes_max: Size = Size::new(4 << 20),
        /// Runs of `auth.query` at once in databases that a client has named and that no login has proved to exist; 0: none.
        unproven_lookups_max: u32 = 8,
        /// Runs of `auth.query` that begin in one second in such databases.
        [AtLeast(1)]
        unproven_lookups_per_second: u32 = 20,
    }
}
