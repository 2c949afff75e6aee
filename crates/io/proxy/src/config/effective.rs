//! The settings in force for one pool. As in PgBouncer, a user's setting overrides the database's, which overrides the
//! one of `[pool]`.

use std::time::Duration;

use trunkline_session::authentication::Secret as StoredSecret;

use super::modes::PoolMode;
use super::{Config, Database, FALLBACK};

/// The settings in force for the pool of one database and one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSettings {
    /// When a server connection goes back to the pool.
    pub pool_mode: PoolMode,
    /// Most server connections of the pool.
    pub pool_size: u32,
    /// Server connections kept even when nobody uses them.
    pub min_pool_size: u32,
    /// Server connections beyond `pool_size` for clients that wait long.
    pub reserve_pool_size: u32,
    /// How long a client waits before the reserve is opened; `None`: never.
    pub reserve_pool_timeout: Option<Duration>,
    /// Most server connections to the database, in all its pools together; 0: no limit.
    pub max_db_connections: u32,
    /// Most server connections of the user, in all pools together; 0: no limit.
    pub max_user_connections: u32,
    /// Most clients of the database; 0: no limit.
    pub max_db_client_connections: u32,
    /// Most clients of the user; 0: no limit.
    pub max_user_client_connections: u32,
    /// The greatest age of a server connection.
    pub server_lifetime: Option<Duration>,
    /// How long a query may run.
    pub query_timeout: Option<Duration>,
    /// How long a client may do nothing inside a transaction.
    pub idle_transaction_timeout: Option<Duration>,
    /// How long a client may do nothing outside a transaction.
    pub client_idle_timeout: Option<Duration>,
}

/// How Trunkline asks a server for a password that is not configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthQuery<'c> {
    /// The query; `$1` is the user.
    pub query: &'c str,
    /// The user that runs the query.
    pub user: &'c str,
    /// The entry of `[databases]` where the query runs.
    pub database: &'c str,
}

impl Config {
    /// The entry for the database `name` that a client asks for: the entry of this name, else [`FALLBACK`].
    pub fn database(&self, name: &str) -> Option<&Database> {
        self.databases.get(name).or_else(|| self.databases.get(FALLBACK))
    }

    /// The configured password of a user, in clear text or as a verifier. `[users]` comes before the userlist.
    pub fn password_of(&self, user: &str) -> Option<StoredSecret> {
        let own = self.users.get(user).and_then(|user| user.password.as_ref());
        // `UserKeys::build` has checked that it can be parsed.
        let own = own.and_then(|password| StoredSecret::parse(password.expose().as_bytes()).ok());
        own.or_else(|| self.userlist.password_of(user).cloned())
    }

    /// Whether the configuration has the user, with or without a password.
    pub fn has_user(&self, user: &str) -> bool {
        self.users.contains_key(user) || self.userlist.has_user(user)
    }

    /// The settings for the pool of `database` and `user`; `None` if there is no such database.
    pub fn pool_settings(&self, database: &str, user: &str) -> Option<PoolSettings> {
        let database = self.database(database)?;
        let user = self.users.get(user);
        let of_user = |pick: fn(&super::User) -> Option<u32>| user.and_then(pick);
        let timeout = |pick: fn(&super::User) -> Option<Option<Duration>>| user.and_then(pick);
        let (pool, timeouts) = (&self.pool, &self.timeouts);
        Some(PoolSettings {
            pool_mode: user
                .and_then(|user| user.pool_mode)
                .or(database.pool_mode)
                .unwrap_or(self.general.pool_mode),
            pool_size: of_user(|user| user.pool_size).or(database.pool_size).unwrap_or(pool.pool_size),
            min_pool_size: database.min_pool_size.unwrap_or(pool.min_pool_size),
            reserve_pool_size: of_user(|user| user.reserve_pool_size)
                .or(database.reserve_pool_size)
                .unwrap_or(pool.reserve_pool_size),
            reserve_pool_timeout: pool.reserve_pool_timeout,
            max_db_connections: database.max_connections.unwrap_or(pool.max_db_connections),
            max_user_connections: of_user(|user| user.max_connections).unwrap_or(pool.max_user_connections),
            max_db_client_connections: database
                .max_client_connections
                .unwrap_or(pool.max_db_client_connections),
            max_user_client_connections: of_user(|user| user.max_client_connections)
                .unwrap_or(pool.max_user_client_connections),
            server_lifetime: database.server_lifetime.unwrap_or(timeouts.server_lifetime),
            query_timeout: timeout(|user| user.query_timeout).unwrap_or(timeouts.query_timeout),
            idle_transaction_timeout: timeout(|user| user.idle_transaction_timeout)
                .unwrap_or(timeouts.idle_transaction_timeout),
            client_idle_timeout: timeout(|user| user.client_idle_timeout)
                .unwrap_or(timeouts.client_idle_timeout),
        })
    }

    /// How to ask a server for the password of a user of `database`; `None` if no server is to be asked.
    pub fn auth_query<'c>(&'c self, database: &'c str) -> Option<AuthQuery<'c>> {
        let entry = self.database(database)?;
        Some(AuthQuery {
            query: entry.auth_query.as_deref().unwrap_or(&self.auth.query),
            user: entry.auth_user.as_deref().or(self.auth.user.as_deref())?,
            database: entry.auth_dbname.as_deref().or(self.auth.dbname.as_deref()).unwrap_or(database),
        })
    }
}
