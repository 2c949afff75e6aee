//! From the configuration to what the workers' boards ask: [`Directory`].

use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_relay::{AuthQuery, Database, Directory, Target, Timeouts, TurnLimits, User};
use trunkline_session::authentication::Password;
use trunkline_session::authentication::scram::KEY_BYTES;
use trunkline_session::backend::{Challenge, LoginSettings, TlsOffer};
use trunkline_session::frontend::TlsWish;
use trunkline_wire::Limits;

use super::certificates::TlsProfiles;
use super::login_secrets;
use crate::config::{self, AuthType, Config, FALLBACK, ServerHost, SslMode};

/// What a directory is made of beside the configuration.
pub(super) struct Origin<'o> {
    /// Counts reloads.
    pub(super) epoch: u64,
    /// Random, and the same for as long as the process lives.
    pub(super) mock_key: [u8; KEY_BYTES],
    /// Which TLS settings have which number.
    pub(super) profiles: &'o TlsProfiles,
    /// The directory before, whose derived keys are taken over where they still fit.
    pub(super) before: Option<&'o Directory>,
}

/// The directory that `config` describes. Slow with many plain passwords: their SCRAM keys are derived here, once.
pub(super) fn build(config: &Config, origin: &Origin<'_>) -> Directory {
    let limits = wire_limits(config);
    let mut login_tcp = LoginSettings::new(origin.mock_key);
    login_tcp.limits = limits;
    let mut login_unix = login_tcp.clone();
    login_tcp.tls = tls_offer(config.tls.client.mode);
    login_tcp.cleartext_without_tls = config.auth.cleartext_without_tls;
    // Nobody listens in on a unix socket, and there is no TLS on it.
    login_unix.cleartext_without_tls = true;

    let challenge = challenge(config.auth.r#type);
    let mut users = users(config);
    if challenge == Challenge::Scram {
        login_secrets::derive(&mut users, &login_tcp, origin.before.map(|before| &before.users));
    }
    let database = |(name, entry): (&String, &config::Database)| {
        (name.clone(), Arc::new(database(config, name, entry, origin.profiles)))
    };
    let mut databases: std::collections::HashMap<_, _> = config.databases.iter().map(database).collect();
    let fallback = databases.remove(FALLBACK);
    let pool = &config.pool;
    Directory {
        epoch: origin.epoch,
        databases,
        fallback,
        users,
        other_users: Capacity {
            servers: pool.max_user_connections,
            clients: pool.max_user_client_connections,
        },
        challenge,
        any_user: config.auth.r#type == AuthType::Any,
        login_tcp: Arc::new(login_tcp),
        login_unix: Arc::new(login_unix),
        scram_iterations_max: config.limits.scram_iterations_max,
        ignored_parameters: config
            .general
            .ignore_startup_parameters
            .iter()
            .map(|name| name.to_ascii_lowercase())
            .collect(),
        extra_parameters: config.general.track_extra_parameters.clone(),
        limits: turn_limits(config),
        clients_max: config.limits.max_client_conn,
        unauthenticated_max: config.limits.unauthenticated_conn_max,
        cancels_max: config.limits.cancel_requests_max as usize,
        timeouts: timeouts(config),
        reset_query: pool.server_reset_query.clone(),
        reset_always: pool.server_reset_query_always,
        check_query: pool.server_check_query.clone(),
        auth_cache_ttl: config.auth.auth_cache_ttl.unwrap_or_default(),
    }
}

fn challenge(auth: AuthType) -> Challenge {
    match auth {
        AuthType::Trust | AuthType::Any => Challenge::Trust,
        AuthType::Password => Challenge::Cleartext,
        AuthType::Md5 => Challenge::Md5,
        AuthType::ScramSha256 => Challenge::Scram,
    }
}

/// `allow` and `prefer` are one towards clients: it is they who ask.
fn tls_offer(mode: SslMode) -> TlsOffer {
    match mode {
        SslMode::Disable => TlsOffer::Disabled,
        SslMode::Allow | SslMode::Prefer => TlsOffer::Allowed,
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => TlsOffer::Required,
    }
}

/// `allow` goes without TLS: it would be asked for only by a server that refuses to do without, and such a server's
/// operator says `require`.
fn tls_wish(host: &ServerHost, mode: SslMode) -> TlsWish {
    match (host, mode) {
        (ServerHost::Unix(_), _) | (_, SslMode::Disable | SslMode::Allow) => TlsWish::Never,
        (_, SslMode::Prefer) => TlsWish::Prefer,
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => TlsWish::Require,
    }
}

/// Whether connections to `database` may have TLS, so that its certificates are needed.
pub(super) fn uses_tls(database: &config::Database) -> bool {
    tls_wish(&database.host, database.tls.sslmode) != TlsWish::Never
}

fn wire_limits(config: &Config) -> Limits {
    Limits {
        startup_packet_bytes: clamp(config.limits.startup_packet_bytes_max.bytes()),
        message_bytes: clamp(config.limits.message_bytes_max.bytes()),
        ..Limits::default()
    }
}

fn turn_limits(config: &Config) -> TurnLimits {
    let limits = &config.limits;
    TurnLimits {
        prepared_max: limits.max_prepared_statements as usize,
        statement_bytes_max: limits.prepared_statement_bytes_max.bytes(),
        client_statements_max: limits.client_prepared_statements_max as usize,
        message_bytes_max: clamp(limits.message_bytes_max.bytes()),
        client_buffer_bytes: limits.client_buffer_bytes.bytes(),
        server_buffer_bytes: limits.server_buffer_bytes.bytes(),
        ..TurnLimits::default()
    }
}

fn clamp(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn timeouts(config: &Config) -> Timeouts {
    let timeouts = &config.timeouts;
    Timeouts {
        client_login: config.limits.client_login_timeout.unwrap_or_default(),
        client_idle: timeouts.client_idle_timeout.unwrap_or_default(),
        idle_transaction: timeouts.idle_transaction_timeout.unwrap_or_default(),
        query: timeouts.query_timeout.unwrap_or_default(),
        server_connect: timeouts.server_connect_timeout.unwrap_or_default(),
        cancel_wait: timeouts.cancel_wait_timeout.unwrap_or_default(),
        abandoned_turn: timeouts.abandoned_turn_timeout,
    }
}

fn users(config: &Config) -> login_secrets::Users {
    let names = config.users.keys().map(String::as_str).chain(config.userlist.names());
    names.map(|name| (name.to_owned(), user(config, name))).collect()
}

fn user(config: &Config, name: &str) -> User {
    let (own, pool) = (config.users.get(name), &config.pool);
    let servers = own.and_then(|own| own.max_connections).unwrap_or(pool.max_user_connections);
    let clients = own.and_then(|own| own.max_client_connections).unwrap_or(pool.max_user_client_connections);
    // `None` leaves the general one in force, zero switches it off.
    let duration = |own: Option<Option<Duration>>| own.map(Option::unwrap_or_default);
    User {
        secret: config.password_of(name),
        login_secret: None,
        capacity: Capacity { servers, clients },
        mode: own.and_then(|own| own.pool_mode).map(pool_mode),
        pool_size: own.and_then(|own| own.pool_size),
        reserve_pool_size: reserve(config, own.and_then(|own| own.reserve_pool_size)),
        query_timeout: duration(own.and_then(|own| own.query_timeout)),
        idle_transaction_timeout: duration(own.and_then(|own| own.idle_transaction_timeout)),
    }
}

fn pool_mode(mode: config::PoolMode) -> PoolMode {
    match mode {
        config::PoolMode::Session => PoolMode::Session,
        config::PoolMode::Transaction => PoolMode::Transaction,
        config::PoolMode::Statement => PoolMode::Statement,
    }
}

/// Without a `reserve_pool_timeout` no client ever waits long enough for the reserve: there is none.
fn reserve(config: &Config, size: Option<u32>) -> Option<u32> {
    size.map(|size| if config.pool.reserve_pool_timeout.is_some() { size } else { 0 })
}

fn database(config: &Config, name: &str, entry: &config::Database, profiles: &TlsProfiles) -> Database {
    let pool = &config.pool;
    let parameters = [
        ("client_encoding", &entry.client_encoding),
        ("DateStyle", &entry.datestyle),
        ("TimeZone", &entry.timezone),
        ("application_name", &entry.application_name),
    ];
    let parameters =
        parameters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    let target = Target {
        host: entry.host.to_string(),
        port: entry.port,
        tls: tls_wish(&entry.host, entry.tls.sslmode),
        tls_profile: profiles.number(entry),
    };
    Database {
        name: name.to_owned(),
        server_name: entry.dbname.clone(),
        target: Arc::new(target),
        forced_user: entry.user.clone(),
        password: entry.password.as_ref().map(|password| Password::new(password.expose())),
        pool: pool_settings(config, entry),
        capacity: Capacity {
            servers: entry.max_connections.unwrap_or(pool.max_db_connections),
            clients: entry.max_client_connections.unwrap_or(pool.max_db_client_connections),
        },
        connect_query: entry.connect_query.clone(),
        parameters: parameters.collect(),
        auth_query: auth_query(config, entry).map(Arc::new),
    }
}

/// What holds for users without settings of their own; the directory puts a user's in place.
fn pool_settings(config: &Config, entry: &config::Database) -> PoolSettings {
    let (pool, timeouts) = (&config.pool, &config.timeouts);
    PoolSettings {
        mode: pool_mode(entry.pool_mode.unwrap_or(config.general.pool_mode)),
        size: entry.pool_size.unwrap_or(pool.pool_size),
        min_size: entry.min_pool_size.unwrap_or(pool.min_pool_size),
        reserve_size: reserve(config, entry.reserve_pool_size.or(Some(pool.reserve_pool_size))).unwrap_or(0),
        reserve_timeout: pool.reserve_pool_timeout.unwrap_or_default(),
        query_wait_timeout: timeouts.query_wait_timeout.unwrap_or_default(),
        server_idle_timeout: timeouts.server_idle_timeout.unwrap_or_default(),
        server_lifetime: entry.server_lifetime.unwrap_or(timeouts.server_lifetime).unwrap_or_default(),
        login_retry: timeouts.server_login_retry,
        // Absent means that every connection is checked; to the pool zero means none.
        check_delay: timeouts.server_check_delay.unwrap_or(Duration::from_micros(1)),
        round_robin: pool.server_round_robin,
    }
}

fn auth_query(config: &Config, entry: &config::Database) -> Option<AuthQuery> {
    let auth = &config.auth;
    Some(AuthQuery {
        sql: entry.auth_query.as_ref().unwrap_or(&auth.query).clone(),
        user: entry.auth_user.as_ref().or(auth.user.as_ref())?.clone(),
        database: entry.auth_dbname.as_ref().or(auth.dbname.as_ref()).cloned(),
    })
}
