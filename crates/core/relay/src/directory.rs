//! The configuration, in the form in which the board reads it.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{Challenge, LoginSettings};
use trunkline_session::frontend::TlsWish;

use crate::limits::TurnLimits;

/// Everything that a reload may change. A reload replaces the whole directory.
#[derive(Debug)]
pub struct Directory {
    /// Counts reloads.
    pub epoch: u64,
    /// Databases by the name clients use.
    pub databases: HashMap<String, Arc<Database>>,
    /// The entry for all other names. The name of the database on the server is the name that the client asked for.
    pub fallback: Option<Arc<Database>>,
    /// Users whose passwords we know without asking a server.
    pub users: HashMap<String, User>,
    /// Server connections that a user may have who is not in `users`, in all databases together.
    pub other_users: Capacity,
    /// How clients prove who they are.
    pub challenge: Challenge,
    /// Every user name is accepted, and the server gets the database's forced user (PgBouncer's `any`).
    pub any_user: bool,
    /// Login settings for clients over TCP.
    pub login_tcp: Arc<LoginSettings>,
    /// Login settings for clients over the unix socket.
    pub login_unix: Arc<LoginSettings>,
    /// SCRAM iterations that a server may ask for (`scram_iterations_max`).
    pub scram_iterations_max: u32,
    /// Start-up parameters that are dropped silently, in lower case.
    pub ignored_parameters: Vec<String>,
    /// Bounds of a turn.
    pub limits: TurnLimits,
    /// If present, the next client may get a server connection while it still owes answers to the one before. Only
    /// tests set this, because we do not know what the functions do that a statement calls.
    pub early_release: Option<EarlyRelease>,
    /// The greatest number of clients of all workers together (`max_client_conn`).
    pub clients_max: Option<u32>,
    /// The greatest number of connections that have not logged in yet, of all workers together
    /// (`unauthenticated_conn_max`).
    pub unauthenticated_max: Option<u32>,
    /// The greatest number of cancel requests under way in one worker (`cancel_requests_max`).
    pub cancels_max: usize,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// The query that we run between two sessions. Empty: none.
    pub reset_query: String,
    /// Whether the reset query runs in transaction and statement mode too.
    pub reset_always: bool,
    /// The query that checks an idle server connection. Empty: we send only a Sync.
    pub check_query: String,
    /// How long we keep an answer of `auth_query`.
    pub auth_cache_ttl: Duration,
    /// The greatest size of all kept answers, of all workers together, in bytes (`auth_cache_bytes_max`).
    pub auth_cache_bytes_max: usize,
    /// The name of the entry whose `auth_query` we ask about a user who wants a database that has no entry. Only a user who
    /// has logged in learns that the database does not exist.
    pub unknown_database_entry: Option<String>,
    /// Bounds on look-ups in databases that may not exist.
    pub unproven_look_ups: UnprovenLookUps,
    /// The greatest number of pools of all workers together (`pools_max`); `None`: no bound.
    pub pools_max: Option<NonZeroU32>,
}

/// Bounds on password look-ups in databases whose names clients chose, as long as no login to a server has proved that the
/// database exists. They hold for all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnprovenLookUps {
    /// The greatest number at one time (`unproven_lookups_max`). 0: we ask no server, and such users cannot log in.
    pub at_once: u32,
    /// The greatest number in a second (`unproven_lookups_per_second`), at least 1.
    pub per_second: u32,
}

impl Default for UnprovenLookUps {
    fn default() -> Self {
        Self { at_once: 8, per_second: 20 }
    }
}

/// How long things may take. `None`: there is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From accept to AuthenticationOk.
    pub client_login: Option<Duration>,
    /// How long a client may be idle after its login.
    pub client_idle: Option<Duration>,
    /// How long a client may be idle that is pinned to a server connection (`auto` mode).
    pub pin_idle: Option<Duration>,
    /// How long a transaction may be idle.
    pub idle_transaction: Option<Duration>,
    /// How long a turn may take.
    pub query: Option<Duration>,
    /// From dialling a server to its first ReadyForQuery.
    pub server_connect: Option<Duration>,
    /// How long a cancel request to a server may take.
    pub cancel_wait: Option<Duration>,
    /// We forget a pool after it had neither clients nor connections for this long.
    pub pool_idle: Option<Duration>,
    /// How long the turn of a vanished client may go on. If the client sent Terminate after the turn, we wait this long
    /// before we cancel the turn, and this long again after that.
    pub abandoned_turn: Option<Duration>,
}

/// One name that clients can connect to.
#[derive(Debug)]
pub struct Database {
    /// The name that clients use.
    pub name: String,
    /// The name of the database on the server. Absent: the same.
    pub server_name: Option<String>,
    /// The server that has the database.
    pub target: Arc<Target>,
    /// If present, server connections of all clients log in as this user.
    pub forced_user: Option<String>,
    /// The password that we send to the server for `forced_user`, or for all users.
    pub password: Option<Password>,
    /// The settings of its pools.
    pub pool: PoolSettings,
    /// Server connections that it may have, of all users together.
    pub capacity: Capacity,
    /// A query that we run once on each new server connection.
    pub connect_query: Option<String>,
    /// Start-up parameters that we send on server connections.
    pub parameters: Vec<(String, String)>,
    /// How we look up users who are not in the configuration.
    pub auth_query: Option<Arc<AuthQuery>>,
}

/// How we ask a server for a user's password.
#[derive(Debug)]
pub struct AuthQuery {
    /// A query with `$1` for the user's name. Its row has the name and the stored password.
    pub sql: String,
    /// The user who runs the query.
    pub user: String,
    /// The database in which it runs. Absent: in the client's own database.
    pub database: Option<String>,
}

/// Early release: a client that has sent its turns completely passes its server connection on before the answers have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyRelease {
    /// If a client reads slowly while others wait behind it, we keep this many bytes of its answers. Above that we
    /// disconnect it.
    pub buffered_bytes_max: usize,
}

/// Which of a [`Target`]'s two TLS modes a connection uses to log in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TlsWay {
    /// `Target::tls`.
    #[default]
    First,
    /// `Target::second_try`.
    Second,
}

impl TlsWay {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// The address of a server, and how we use TLS with it.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// A host name, an address, or the directory of a unix socket.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether to ask for TLS.
    pub tls: TlsWish,
    /// What to try when a login with `tls` fails: libpq's sslmode `prefer` then tries without TLS, `allow` then tries
    /// with TLS.
    pub second_try: Option<TlsWish>,
    /// The index of the TLS configuration that the shell uses.
    pub tls_profile: usize,
}

/// A user of the configuration.
#[derive(Debug, Default)]
pub struct User {
    /// The secret against which we check a client's proof. If it is a plain password, we also send it to servers.
    pub secret: Option<Secret>,
    /// If present, we check logins against this instead of `secret`: SCRAM keys made from a plain password, because making
    /// them at each login would take too long.
    pub login_secret: Option<Secret>,
    /// Server connections that the user may have, in all databases together.
    pub capacity: Capacity,
    /// Overrides the database's setting.
    pub mode: Option<PoolMode>,
    /// Overrides the database's setting.
    pub pool_size: Option<u32>,
    /// Overrides the database's setting.
    pub reserve_pool_size: Option<u32>,
    /// Overrides the general timeout. `Some(None)`: this user has no timeout.
    pub query_timeout: Option<Option<Duration>>,
    /// Overrides the general timeout. `Some(None)`: this user has no timeout.
    pub idle_transaction_timeout: Option<Option<Duration>>,
    /// Overrides the general timeout. `Some(None)`: this user has no timeout.
    pub client_idle_timeout: Option<Option<Duration>>,
}

impl Directory {
    /// The entry for a name that a client asks for.
    #[must_use]
    pub fn database(&self, name: &str) -> Option<&Arc<Database>> {
        self.databases.get(name).or(self.fallback.as_ref())
    }

    /// The entry whose `auth_query` we ask about users who want a database that has no entry.
    #[must_use]
    pub fn unknown_database_entry(&self) -> Option<&Arc<Database>> {
        self.databases.get(self.unknown_database_entry.as_ref()?)
    }

    /// The settings of a pool, with the user's overrides.
    #[must_use]
    pub fn pool_settings(&self, database: &Database, user: &str) -> PoolSettings {
        let mut settings = database.pool.clone();
        if let Some(user) = self.users.get(user) {
            settings.mode = user.mode.unwrap_or(settings.mode);
            settings.size = user.pool_size.unwrap_or(settings.size);
            settings.reserve_size = user.reserve_pool_size.unwrap_or(settings.reserve_size);
        }
        settings
    }

    /// The secret against which we check a user's login, if we know it without asking a server.
    #[must_use]
    pub fn secret_of(&self, user: &str) -> Option<Secret> {
        let user = self.users.get(user)?;
        user.login_secret.as_ref().or(user.secret.as_ref()).cloned()
    }

    /// How many server connections a user may have.
    #[must_use]
    pub fn user_capacity(&self, user: &str) -> Capacity {
        self.users.get(user).map_or(self.other_users, |user| user.capacity)
    }
}
