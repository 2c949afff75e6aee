//! `[users.NAME]`: a user who may log in, and what is theirs alone.

use std::path::PathBuf;
use std::time::Duration;

use trunkline_session::authentication::Secret as StoredSecret;

use super::modes::PoolMode;
use super::password::{PasswordKeys, Surroundings};
use super::problem::Findings;
use super::secret::Secret;
use super::section::section;

section! {
    /// The keys of `[users.NAME]`, before they are put together.
    pub(super) struct UserKeys {
        /// Plain, md5 or SCRAM.
        password: Option<Secret> = None,
        /// File with it.
        password_file: Option<PathBuf> = None,
        /// Environment variable with it.
        password_env: Option<String> = None,
        /// See [`User`], from here on.
        pool_mode: Option<PoolMode> = None,
        /// Pool size.
        pool_size: Option<u32> = None,
        /// Reserve.
        reserve_pool_size: Option<u32> = None,
        /// Server connections.
        max_connections: Option<u32> = None,
        /// Clients.
        max_client_connections: Option<u32> = None,
        /// Running query.
        query_timeout: Option<Option<Duration>> = None,
        /// Idle in a transaction.
        idle_transaction_timeout: Option<Option<Duration>> = None,
        /// Idle client.
        client_idle_timeout: Option<Option<Duration>> = None,
    }
}

/// One entry of `[users]`. What is `None` here is as the database or the file's general part says;
/// [`super::Config::pool_settings`] puts them together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The password, or its md5 or SCRAM verifier.
    pub password: Option<Secret>,
    /// When this user's server connections go back to their pool.
    pub pool_mode: Option<PoolMode>,
    /// Server connections of each of this user's pools.
    pub pool_size: Option<u32>,
    /// Server connections beyond the pool's size for clients that wait long.
    pub reserve_pool_size: Option<u32>,
    /// Server connections of this user, over all pools; 0: no limit.
    pub max_connections: Option<u32>,
    /// Clients of this user; 0: no limit.
    pub max_client_connections: Option<u32>,
    /// How long this user's queries may run; `Some(None)`: any time.
    pub query_timeout: Option<Option<Duration>>,
    /// How long this user may do nothing inside a transaction.
    pub idle_transaction_timeout: Option<Option<Duration>>,
    /// How long this user may do nothing outside a transaction.
    pub client_idle_timeout: Option<Option<Duration>>,
}

impl UserKeys {
    /// Puts the table `path` together.
    pub(super) fn build(self, path: &str, from: &Surroundings<'_>, findings: &mut Findings<'_>) -> User {
        let keys =
            PasswordKeys { inline: self.password, file: self.password_file, environment: self.password_env };
        let password = keys.read(path, from, findings);
        if let Some(Err(error)) =
            password.as_ref().map(|password| StoredSecret::parse(password.expose().as_bytes()))
        {
            findings.at(&format!("{path}.password"), format!("[{path}]: {error}"));
        }
        User {
            password,
            pool_mode: self.pool_mode,
            pool_size: self.pool_size,
            reserve_pool_size: self.reserve_pool_size,
            max_connections: self.max_connections,
            max_client_connections: self.max_client_connections,
            query_timeout: self.query_timeout,
            idle_transaction_timeout: self.idle_transaction_timeout,
            client_idle_timeout: self.client_idle_timeout,
        }
    }
}
