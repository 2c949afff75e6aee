//! `[users.NAME]`: a user who may log in, and this user's own settings.

use std::path::PathBuf;
use std::time::Duration;

use trunkline_session::authentication::Secret as StoredSecret;

use super::modes::PoolMode;
use super::password::{PasswordKeys, ReadContext};
use super::problem::Findings;
use super::secret::Secret;
use super::section::section;

section! {
    /// The keys of `[users.NAME]` as the file has them. [`UserKeys::build`] makes a [`User`] of them.
    pub(super) struct UserKeys {
        /// Password in clear text, md5 hash or SCRAM verifier.
        password: Option<Secret> = None,
        /// File with the password.
        password_file: Option<PathBuf> = None,
        /// Environment variable with the password.
        password_env: Option<String> = None,
        /// Pool mode. [`User`] describes this key and those below.
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

/// One entry of `[users]`. Where a field is `None`, the setting of the database or the general setting holds;
/// [`super::Config::pool_settings`] combines them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The password, or its md5 or SCRAM verifier.
    pub password: Option<Secret>,
    /// When this user's server connections go back to their pool.
    pub pool_mode: Option<PoolMode>,
    /// Most server connections of each of this user's pools.
    pub pool_size: Option<u32>,
    /// Server connections beyond the pool's size for clients that wait long.
    pub reserve_pool_size: Option<u32>,
    /// Most server connections of this user, in all pools together; 0: no limit.
    pub max_connections: Option<u32>,
    /// Most clients of this user; 0: no limit.
    pub max_client_connections: Option<u32>,
    /// How long this user's queries may run; `Some(None)`: no limit.
    pub query_timeout: Option<Option<Duration>>,
    /// How long this user may do nothing inside a transaction.
    pub idle_transaction_timeout: Option<Option<Duration>>,
    /// How long this user may do nothing outside a transaction.
    pub client_idle_timeout: Option<Option<Duration>>,
}

impl UserKeys {
    /// Makes the user of the table `path`. Faults go into `findings`.
    pub(super) fn build(self, path: &str, context: &ReadContext<'_>, findings: &mut Findings<'_>) -> User {
        let keys =
            PasswordKeys { inline: self.password, file: self.password_file, environment: self.password_env };
        let password = keys.read(path, context, findings);
        if let Some(Err(error)) =
            password.as_ref().map(|password| StoredSecret::parse(password.expose().as_bytes()))
        {
            findings.add_at(&format!("{path}.password"), format!("[{path}]: {error}"));
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
