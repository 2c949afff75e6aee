//! `[pool]`: the defaults of all pools.

use super::section::section;

section! {
    /// `[pool]`. A pool is one database and one user.
    pub struct Pool {
        /// Most server connections of a pool.
        pool_size: u32 = 20,
        /// Server connections kept even when nobody uses them.
        [NoBound]
        min_pool_size: u32 = 0,
        /// Server connections beyond `pool_size` for clients that have waited `reserve_pool_timeout`.
        reserve_pool_size: u32 = 0,
        /// How long a client waits before the reserve is opened; `None`: never.
        [NoBound]
        reserve_pool_timeout: Option<std::time::Duration> = Some(std::time::Duration::from_secs(5)),
        /// Most server connections to one database, in all its pools together; 0: no limit.
        max_db_connections: u32 = 0,
        /// Most server connections of one user, in all pools together; 0: no limit.
        max_user_connections: u32 = 0,
        /// Most clients of one database; 0: no limit.
        max_db_client_connections: u32 = 0,
        /// Most clients of one user; 0: no limit.
        max_user_client_connections: u32 = 0,
        /// Whether the pool lends the server connection that was idle longest; otherwise the one that was used last.
        server_round_robin: bool = false,
        /// The query that resets a server connection between two clients in session mode; empty: none.
        server_reset_query: String = "DISCARD ALL".to_owned(),
        /// Whether `server_reset_query` is sent in every pool mode.
        server_reset_query_always: bool = false,
        /// The query that checks whether an idle server connection still works; empty: a Sync is sent instead.
        server_check_query: String = String::new(),
    }
}
