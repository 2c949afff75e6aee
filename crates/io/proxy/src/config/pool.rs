//! `[pool]`: sizes and habits of every pool that has none of its own.

use super::section::section;

section! {
    /// `[pool]`. A pool is one database and one user.
    pub struct Pool {
        /// Server connections of a pool.
        pool_size: u32 = 20,
        /// Server connections kept even when nobody uses them.
        [NoBound]
        min_pool_size: u32 = 0,
        /// Server connections beyond `pool_size` for clients that have waited `reserve_pool_timeout`.
        reserve_pool_size: u32 = 0,
        /// How long a client waits before the reserve is opened; `None`: never.
        [NoBound]
        reserve_pool_timeout: Option<std::time::Duration> = Some(std::time::Duration::from_secs(5)),
        /// Server connections to one database, over all its pools; 0: no limit.
        max_db_connections: u32 = 0,
        /// Server connections of one user, over all pools; 0: no limit.
        max_user_connections: u32 = 0,
        /// Clients of one database; 0: no limit.
        max_db_client_connections: u32 = 0,
        /// Clients of one user; 0: no limit.
        max_user_client_connections: u32 = 0,
        /// Whether the server connection idle for longest is taken, not the one idle for shortest.
        server_round_robin: bool = false,
        /// What is sent when a server connection changes clients in session mode; empty: nothing.
        server_reset_query: String = "DISCARD ALL".to_owned(),
        /// Whether `server_reset_query` is sent in every pool mode.
        server_reset_query_always: bool = false,
        /// What is sent to see whether an idle server connection lives; empty: a Sync.
        server_check_query: String = String::new(),
    }
}
