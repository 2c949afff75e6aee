//! `[limits]`: bounds on what peers can make Trunkline hold. Each has a metric `trunkline_limit{limit="..."}`, which follows
//! from its declaration.

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
        /// Client connections that have not logged in yet.
        [AtLeast(1)]
        unauthenticated_conn_max: u32 = 2_000,
        /// Bytes of a start-up packet.
        [AtLeast(256)]
        startup_packet_bytes_max: Size = Size::new(10_000),
        /// Bytes of one message after the login.
        [AtLeast(8192)]
        message_bytes_max: Size = Size::new(1 << 30),
        /// Bytes read from a client that its server has not yet taken.
        [AtLeast(4096)]
        client_buffer_bytes: Size = Size::new(64 << 10),
        /// Bytes read from a server that its client has not yet taken.
        [AtLeast(4096)]
        server_buffer_bytes: Size = Size::new(64 << 10),
        /// Turns a client may send before the first is answered.
        [AtLeast(1)]
        outstanding_turns_max: u32 = 1_000,
        /// Messages of a client that are dealt with before others have their turn.
        [AtLeast(1)]
        round_messages_max: u32 = 1_000,
        /// Turns of a client on a server connection before it gives that back to who waits.
        [AtLeast(1)]
        lent_turns_max: u32 = 100,
        /// Bytes of texts that a worker parses before its other clients have their turn.
        [AtLeast(1)]
        round_parse_bytes_max: Size = Size::new(64 << 10),
        /// Bytes of a text that is parsed; a longer one may do anything.
        classified_text_bytes_max: Size = Size::new(64 << 10),
        /// Bytes of what is known of texts.
        [Restart]
        statement_classes_bytes_max: Size = Size::new(4 << 20),
        /// Bytes of a turn that is kept until it is answered, to be played again.
        replay_bytes_max: Size = Size::new(16 << 10),
        /// Prepared statements kept on each server connection; 0: prepared statements are not followed.
        max_prepared_statements: u32 = 200,
        /// Bytes of a Parse message whose statement is followed; a longer one is passed on.
        prepared_statement_bytes_max: Size = Size::new(1 << 20),
        /// Bytes of all prepared statements known.
        [Restart]
        prepared_registry_bytes_max: Size = Size::new(64 << 20),
        /// Prepared statements of one client.
        client_prepared_statements_max: u32 = 10_000,
        /// What these and their statements may take.
        client_prepared_statement_bytes_max: Size = Size::new(256 << 20),
        /// SCRAM iterations that are computed for a peer. PostgreSQL's own verifiers have 4096.
        [AtLeast(4096)]
        scram_iterations_max: u32 = 100_000,
        /// Cancel requests under way at once.
        [AtLeast(1)]
        cancel_requests_max: u32 = 1_000,
        /// Pools known at once; 0: no limit.
        pools_max: u32 = 10_000,
        /// Bytes of answers to `auth.query` that are remembered.
        auth_cache_bytes_max: Size = Size::new(4 << 20),
        /// Look-ups of `auth.query` under way in databases that clients name and no login has shown to exist; 0: none.
        unproven_lookups_max: u32 = 8,
        /// The same, in a second.
        [AtLeast(1)]
        unproven_lookups_per_second: u32 = 20,
    }
}
