//! What the configuration says, in the form that the board asks it.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{Challenge, LoginSettings};
use trunkline_session::frontend::TlsWish;

use crate::limits::TurnLimits;

/// Everything that a reload may change. A new one replaces the old as a whole.
#[derive(Debug)]
pub struct Directory {
    /// Counts reloads.
    pub epoch: u64,
    /// Databases by the name clients use.
    pub databases: HashMap<String, Arc<Database>>,
    /// For names that have no entry; its server database is the name asked for.
    pub fallback: Option<Arc<Database>>,
    /// Users known without asking a server.
    pub users: HashMap<String, User>,
    /// The connections of a user that is not in `users`, all databases together.
    pub other_users: Capacity,
    /// How clients prove themselves.
    pub challenge: Challenge,
    /// Any user name is accepted, and the database's forced user is used (PgBouncer's `any`).
    pub any_user: bool,
    /// For clients over TCP.
    pub login_tcp: Arc<LoginSettings>,
    /// For clients over the unix socket.
    pub login_unix: Arc<LoginSettings>,
    /// SCRAM iterations that a server may ask for (`scram_iterations_max`).
    pub scram_iterations_max: u32,
    /// Start-up parameters that are dropped silently, in lower case.
    pub ignored_parameters: Vec<String>,
    /// Bounds of a turn.
    pub limits: TurnLimits,
    /// Whether a server connection is given on while it still owes answers. Only tests set it yet: what the functions do that a
    /// statement calls is not known.
    pub early_release: Option<EarlyRelease>,
    /// Clients at most, all workers together (`max_client_conn`).
    pub clients_max: Option<u32>,
    /// Connections that have not logged in yet, all workers together (`unauthenticated_conn_max`).
    pub unauthenticated_max: Option<u32>,
    /// Cancels under way in one worker at most (`cancel_requests_max`).
    pub cancels_max: usize,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Query between two sessions; empty: none.
    pub reset_query: String,
    /// The reset query runs in transaction and statement mode too.
    pub reset_always: bool,
    /// Query that checks an idle connection; empty: a bare Sync.
    pub check_query: String,
    /// How long an answer of `auth_query` is remembered.
    pub auth_cache_ttl: Duration,
    /// Bytes of such answers, all workers together (`auth_cache_bytes_max`).
    pub auth_cache_bytes_max: usize,
    /// The entry whose `auth_query` is asked about users who want a database that does not exist: they are told so once they
    /// have logged in.
    pub strangers: Option<String>,
    /// Look-ups in databases that are not known to exist.
    pub unproven_look_ups: UnprovenLookUps,
    /// Pools at most, all workers together (`pools_max`); `None`: no bound.
    pub pools_max: Option<NonZeroU32>,
}

/// Bounds on look-ups in databases whose names clients choose, and that no login to a server has proved to exist; all workers
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnprovenLookUps {
    /// This many under way (`unproven_lookups_max`); 0: there are none, and such users are nobody.
    pub at_once: u32,
    /// This many in a second (`unproven_lookups_per_second`), at least 1.
    pub per_second: u32,
}

impl Default for UnprovenLookUps {
    fn default() -> Self {
        Self { at_once: 8, per_second: 20 }
    }
}

/// How long things may take; none: as long as they do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From accept to AuthenticationOk.
    pub client_login: Option<Duration>,
    /// A client that is logged in and asks nothing.
    pub client_idle: Option<Duration>,
    /// A client that asks nothing, and is pinned to a server connection (`auto` mode).
    pub pin_idle: Option<Duration>,
    /// A transaction in which nothing happens.
    pub idle_transaction: Option<Duration>,
    /// A turn.
    pub query: Option<Duration>,
    /// From dialling a server to its first ReadyForQuery.
    pub server_connect: Option<Duration>,
    /// A cancel request to a server.
    pub cancel_wait: Option<Duration>,
    /// A pool without clients and connections is forgotten after this.
    pub pool_idle: Option<Duration>,
    /// The turn of a vanished client: as long again for one that said good-bye after it before it is cancelled.
    pub abandoned_turn: Option<Duration>,
}

/// One name that clients can connect to.
#[derive(Debug)]
pub struct Database {
    /// The name clients use.
    pub name: String,
    /// Its name on the server; absent: the same.
    pub server_name: Option<String>,
    /// Where it is.
    pub target: Arc<Target>,
    /// All clients use this user on the server.
    pub forced_user: Option<String>,
    /// The password for `forced_user`, or for all users.
    pub password: Option<Password>,
    /// Its pools' settings.
    pub pool: PoolSettings,
    /// Its connections, all users together.
    pub capacity: Capacity,
    /// A query run once on each new server connection.
    pub connect_query: Option<String>,
    /// Start-up parameters of server connections.
    pub parameters: Vec<(String, String)>,
    /// How unknown users are looked up.
    pub auth_query: Option<Arc<AuthQuery>>,
}

/// A user's password, asked of a server.
#[derive(Debug)]
pub struct AuthQuery {
    /// With `$1` for the user's name; gives name and stored password.
    pub sql: String,
    /// Who asks.
    pub user: String,
    /// Where; absent: in the client's own database.
    pub database: Option<String>,
}

/// How server connections are shared by clients whose turns are sent whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyRelease {
    /// Bytes of answers kept for a client that reads slowly while others wait for theirs; above that it is cut off.
    pub buffered_bytes_max: usize,
}

/// By which of a [`Target`]'s two ways of TLS a connection logs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TlsWay {
    /// By `tls`.
    #[default]
    First,
    /// By `second_try`.
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

/// A server.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// A host name, an address, or the directory of a unix socket.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether to ask for TLS.
    pub tls: TlsWish,
    /// What to try when a login by `tls` fails: libpq's sslmode `prefer` then does without TLS, `allow` then asks for it.
    pub second_try: Option<TlsWish>,
    /// Which of the shell's TLS configurations.
    pub tls_profile: usize,
}

/// A user of the configuration.
#[derive(Debug, Default)]
pub struct User {
    /// What its password is checked against, and, when it is a password, sent to servers.
    pub secret: Option<Secret>,
    /// What its logins are checked against instead of `secret`: the SCRAM keys of a plain password, whose derivation
    /// is too slow to be done for each login.
    pub login_secret: Option<Secret>,
    /// Its connections, all databases together.
    pub capacity: Capacity,
    /// Overrides the database's.
    pub mode: Option<PoolMode>,
    /// Overrides the database's.
    pub pool_size: Option<u32>,
    /// Overrides the database's.
    pub reserve_pool_size: Option<u32>,
    /// Overrides the general one, perhaps with none.
    pub query_timeout: Option<Option<Duration>>,
    /// Overrides the general one, perhaps with none.
    pub idle_transaction_timeout: Option<Option<Duration>>,
    /// Overrides the general one, perhaps with none.
    pub client_idle_timeout: Option<Option<Duration>>,
}

impl Directory {
    /// The entry for a name that a client asks for.
    #[must_use]
    pub fn database(&self, name: &str) -> Option<&Arc<Database>> {
        self.databases.get(name).or(self.fallback.as_ref())
    }

    /// The entry by which users are looked up who want a database that does not exist.
    #[must_use]
    pub fn strangers(&self) -> Option<&Arc<Database>> {
        self.databases.get(self.strangers.as_ref()?)
    }

    /// A pool's settings, with the user's overrides.
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

    /// What a user's login is checked against, if it is known without asking a server.
    #[must_use]
    pub fn secret_of(&self, user: &str) -> Option<Secret> {
        let user = self.users.get(user)?;
        user.login_secret.as_ref().or(user.secret.as_ref()).cloned()
    }

    /// A user's limits.
    #[must_use]
    pub fn user_capacity(&self, user: &str) -> Capacity {
        self.users.get(user).map_or(self.other_users, |user| user.capacity)
    }
}
