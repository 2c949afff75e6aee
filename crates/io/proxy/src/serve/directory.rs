//! Makes the [`Directory`] of a configuration: the workers' boards read their settings there.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_relay::{AuthQuery, Database, Directory, Target, Timeouts, TurnLimits, UnprovenLookUps, User};
use trunkline_session::authentication::Password;
use trunkline_session::authentication::scram::KEY_BYTES;
use trunkline_session::backend::{Challenge, LoginSettings, TlsOffer};
use trunkline_session::frontend::TlsWish;
use trunkline_wire::Limits;

use super::certificates::TlsProfiles;
use super::login_secrets;
use crate::config::{self, AuthType, Config, FALLBACK, ServerHost, SslMode};

/// What [`build`] needs beside the configuration.
pub(super) struct BuildInputs<'o> {
    /// A number that each reload increments.
    pub(super) epoch: u64,
    /// A random key that stays the same until the process ends.
    pub(super) mock_key: [u8; KEY_BYTES],
    /// The numbers of the TLS settings.
    pub(super) profiles: &'o TlsProfiles,
    /// The previous directory. SCRAM keys whose password is unchanged are copied from it.
    pub(super) before: Option<&'o Directory>,
}

/// The directory that `config` describes. Slow with many clear-text passwords, because it derives their SCRAM keys.
pub(super) fn build(config: &Config, inputs: &BuildInputs<'_>) -> Directory {
    let limits = wire_limits(config);
    let mut login_tcp = LoginSettings::new(inputs.mock_key);
    login_tcp.limits = limits;
    let mut login_unix = login_tcp.clone();
    login_tcp.tls = tls_offer(config.tls.client.mode);
    login_tcp.cleartext_without_tls = config.auth.cleartext_without_tls;
    // Nobody can eavesdrop on a unix socket, so a clear-text password is safe there. A unix socket has no TLS.
    login_unix.cleartext_without_tls = true;

    let challenge = challenge(config.auth.r#type);
    let mut users = users(config);
    if challenge == Challenge::Scram {
        login_secrets::derive(&mut users, &login_tcp, inputs.before.map(|before| &before.users));
    }
    let database = |(name, entry): (&String, &config::Database)| {
        (name.clone(), Arc::new(database(config, name, entry, inputs.profiles)))
    };
    let mut databases: std::collections::HashMap<_, _> = config.databases.iter().map(database).collect();
    let fallback = databases.remove(FALLBACK);
    let pool = &config.pool;
    Directory {
        epoch: inputs.epoch,
        databases,
        fallback,
        users,
        other_users: Capacity {
            servers: NonZeroU32::new(pool.max_user_connections),
            clients: NonZeroU32::new(pool.max_user_client_connections),
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
        limits: turn_limits(config),
        early_release: None,
        clients_max: Some(config.limits.max_client_conn),
        unauthenticated_max: Some(config.limits.unauthenticated_conn_max),
        cancels_max: config.limits.cancel_requests_max as usize,
        timeouts: timeouts(config),
        reset_query: pool.server_reset_query.clone(),
        reset_always: pool.server_reset_query_always,
        check_query: pool.server_check_query.clone(),
        auth_cache_ttl: config.auth.auth_cache_ttl.unwrap_or_default(),
        auth_cache_bytes_max: config.limits.auth_cache_bytes_max.bytes(),
        unknown_database_entry: entry_for_unknown_databases(config),
        unproven_look_ups: UnprovenLookUps {
            at_once: config.limits.unproven_lookups_max,
            per_second: config.limits.unproven_lookups_per_second,
        },
        pools_max: NonZeroU32::new(config.limits.pools_max),
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

/// For clients, `allow` and `prefer` mean the same, because the client is the side that asks for TLS.
fn tls_offer(mode: SslMode) -> TlsOffer {
    match mode {
        SslMode::Disable => TlsOffer::Disabled,
        SslMode::Allow | SslMode::Prefer => TlsOffer::Allowed,
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => TlsOffer::Required,
    }
}

/// Whether the first attempt to connect uses TLS. With `allow` it does not; [`second_try`] does.
fn tls_wish(host: &ServerHost, mode: SslMode) -> TlsWish {
    match (host, mode) {
        (ServerHost::Unix(_), _) | (_, SslMode::Disable | SslMode::Allow) => TlsWish::Never,
        (_, SslMode::Prefer) => TlsWish::Prefer,
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => TlsWish::Require,
    }
}

/// Whether a second attempt uses TLS, after the first one failed; `None`: no second attempt. As libpq does.
fn second_try(host: &ServerHost, mode: SslMode) -> Option<TlsWish> {
    match (host, mode) {
        (ServerHost::Tcp(_), SslMode::Allow) => Some(TlsWish::Require),
        (ServerHost::Tcp(_), SslMode::Prefer) => Some(TlsWish::Never),
        _ => None,
    }
}

/// Whether a connection to `database` may use TLS, so that its certificates are needed.
pub(super) fn uses_tls(database: &config::Database) -> bool {
    let mode = database.tls.sslmode;
    tls_wish(&database.host, mode) != TlsWish::Never || second_try(&database.host, mode).is_some()
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
        statement_lifetime: config.timeouts.prepared_statement_lifetime.map(micros),
        client_statements_max: limits.client_prepared_statements_max as usize,
        client_statements_bytes_max: limits.client_prepared_statement_bytes_max.bytes(),
        message_bytes_max: clamp(limits.message_bytes_max.bytes()),
        replay_bytes_max: limits.replay_bytes_max.bytes(),
        outstanding_turns_max: limits.outstanding_turns_max as usize,
        round_messages_max: limits.round_messages_max as usize,
        lent_turns_max: limits.lent_turns_max as usize,
        round_parse_bytes_max: limits.round_parse_bytes_max.bytes(),
        classified_text_bytes_max: limits.classified_text_bytes_max.bytes(),
        client_buffer_bytes: limits.client_buffer_bytes.bytes(),
        server_buffer_bytes: limits.server_buffer_bytes.bytes(),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn clamp(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn timeouts(config: &Config) -> Timeouts {
    let timeouts = &config.timeouts;
    Timeouts {
        client_login: config.limits.client_login_timeout,
        client_idle: timeouts.client_idle_timeout,
        pin_idle: timeouts.pin_idle_timeout,
        idle_transaction: timeouts.idle_transaction_timeout,
        query: timeouts.query_timeout,
        server_connect: timeouts.server_connect_timeout,
        cancel_wait: timeouts.cancel_wait_timeout,
        pool_idle: timeouts.pool_idle_timeout,
        abandoned_turn: Some(timeouts.abandoned_turn_timeout),
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
    User {
        secret: config.password_of(name),
        login_secret: None,
        capacity: Capacity { servers: NonZeroU32::new(servers), clients: NonZeroU32::new(clients) },
        mode: own.and_then(|own| own.pool_mode).map(pool_mode),
        pool_size: own.and_then(|own| own.pool_size),
        reserve_pool_size: reserve(config, own.and_then(|own| own.reserve_pool_size)),
        query_timeout: own.and_then(|own| own.query_timeout),
        idle_transaction_timeout: own.and_then(|own| own.idle_transaction_timeout),
        client_idle_timeout: own.and_then(|own| own.client_idle_timeout),
    }
}

fn pool_mode(mode: config::PoolMode) -> PoolMode {
    match mode {
        config::PoolMode::Session => PoolMode::Session,
        config::PoolMode::Transaction => PoolMode::Transaction,
        config::PoolMode::Statement => PoolMode::Statement,
        config::PoolMode::Auto => PoolMode::Auto,
    }
}

/// The size of the reserve. It is 0 without a `reserve_pool_timeout`: then no wait is long enough to open the reserve.
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
        second_try: second_try(&entry.host, entry.tls.sslmode),
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
            servers: NonZeroU32::new(entry.max_connections.unwrap_or(pool.max_db_connections)),
            clients: NonZeroU32::new(entry.max_client_connections.unwrap_or(pool.max_db_client_connections)),
        },
        connect_query: entry.connect_query.clone(),
        parameters: parameters.collect(),
        auth_query: auth_query(config, entry).map(Arc::new),
    }
}

/// The pool settings of users without settings of their own. The directory overrides them by a user's settings.
fn pool_settings(config: &Config, entry: &config::Database) -> PoolSettings {
    let (pool, timeouts) = (&config.pool, &config.timeouts);
    PoolSettings {
        mode: pool_mode(entry.pool_mode.unwrap_or(config.general.pool_mode)),
        size: entry.pool_size.unwrap_or(pool.pool_size),
        min_size: entry.min_pool_size.unwrap_or(pool.min_pool_size),
        reserve_size: reserve(config, entry.reserve_pool_size.or(Some(pool.reserve_pool_size))).unwrap_or(0),
        reserve_timeout: pool.reserve_pool_timeout.unwrap_or_default(),
        query_wait_timeout: timeouts.query_wait_timeout,
        server_idle_timeout: timeouts.server_idle_timeout,
        server_lifetime: entry.server_lifetime.unwrap_or(timeouts.server_lifetime),
        login_retry: timeouts.server_login_retry,
        login_retry_max: timeouts.server_login_retry_max,
        check_delay: timeouts.server_check_delay.unwrap_or_default(),
        round_robin: pool.server_round_robin,
    }
}

/// The first entry in the order of names that has an `auth_query`. It looks up the users who ask for a database that does
/// not exist.
fn entry_for_unknown_databases(config: &Config) -> Option<String> {
    let mut entries = config.databases.iter().filter(|(name, _)| name.as_str() != FALLBACK);
    entries.find(|(_, entry)| auth_query(config, entry).is_some()).map(|(name, _)| name.clone())
}

fn auth_query(config: &Config, entry: &config::Database) -> Option<AuthQuery> {
    let auth = &config.auth;
    Some(AuthQuery {
        sql: entry.auth_query.as_ref().unwrap_or(&auth.query).clone(),
        user: entry.auth_user.as_ref().or(auth.user.as_ref())?.clone(),
        database: entry.auth_dbname.as_ref().or(auth.dbname.as_ref()).cloned(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use trunkline_session::authentication::Secret;

    use super::*;

    fn directory(text: &str) -> Directory {
        let config = Config::parse(text, "test.toml", Path::new("/"), &|_| None).expect("accepted");
        let profiles = TlsProfiles::default().with_profiles_of(&config);
        build(&config, &BuildInputs { epoch: 3, mock_key: [7; KEY_BYTES], profiles: &profiles, before: None })
    }

    const APP: &str = "[databases.app]\nhost = \"db.example.com\"\n";

    #[test]
    fn an_entry_gives_the_server_and_the_start_of_its_connections() {
        let directory = directory(
            "[databases.app]\nhost = \"db\"\nport = 5433\ndbname = \"real\"\nuser = \"own\"\npassword = \"pw\"\n\
             client_encoding = \"UTF8\"\ndatestyle = \"ISO\"\ntimezone = \"UTC\"\napplication_name = \"x\"\n\
             connect_query = \"SELECT 1\"\nmax_connections = 7\nmax_client_connections = 70\n\
             [users.u]\npassword = \"x\"\n",
        );
        let app = directory.database("app").expect("there");
        assert_eq!((app.name.as_str(), app.server_name.as_deref()), ("app", Some("real")));
        assert_eq!((app.target.host.as_str(), app.target.port), ("db", 5433));
        assert_eq!(app.forced_user.as_deref(), Some("own"));
        assert!(app.password.as_ref().is_some_and(|password| password.matches(b"pw")));
        assert_eq!(app.capacity, Capacity { servers: NonZeroU32::new(7), clients: NonZeroU32::new(70) });
        assert_eq!(app.connect_query.as_deref(), Some("SELECT 1"));
        let parameters: Vec<_> =
            app.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO"),
            ("TimeZone", "UTC"),
            ("application_name", "x"),
        ];
        assert_eq!(parameters, expected);
        assert!(directory.database("other").is_none());
        assert_eq!(directory.epoch, 3);
    }

    #[test]
    fn the_star_entry_is_for_every_other_name() {
        let directory = directory(
            "[databases.app]\nhost = \"a\"\n[databases.\"*\"]\nhost = \"b\"\n[users.u]\npassword = \"x\"\n",
        );
        let host = |name: &str| directory.database(name).map(|database| database.target.host.clone());
        assert_eq!((host("app").as_deref(), host("any").as_deref()), (Some("a"), Some("b")));
        assert!(!directory.databases.contains_key(FALLBACK));
    }

    #[test]
    fn settings_of_a_user_override_those_of_the_database() {
        let directory = directory(
            "pool_mode = \"session\"\n[pool]\npool_size = 5\nreserve_pool_size = 2\nreserve_pool_timeout = 3\n\
             max_user_connections = 9\nserver_round_robin = true\n\
             [timeouts]\nserver_check_delay = 0\nserver_idle_timeout = 0\nquery_wait_timeout = 11\n\
             [databases.app]\nhost = \"db\"\nmin_pool_size = 1\nserver_lifetime = 0\n\
             [users.u]\npassword = \"x\"\npool_mode = \"statement\"\npool_size = 8\nreserve_pool_size = 4\n\
             max_connections = 3\nmax_client_connections = 30\nquery_timeout = 0\nidle_transaction_timeout = 4\nclient_idle_timeout = 6\n",
        );
        let app = directory.database("app").expect("there");
        let other = directory.pool_settings(app, "somebody");
        let expected = PoolSettings {
            mode: PoolMode::Session,
            size: 5,
            min_size: 1,
            reserve_size: 2,
            reserve_timeout: Duration::from_secs(3),
            query_wait_timeout: Some(Duration::from_secs(11)),
            server_idle_timeout: None,
            server_lifetime: None,
            login_retry: Duration::from_secs(1),
            login_retry_max: Duration::from_secs(15),
            check_delay: Duration::ZERO,
            round_robin: true,
        };
        assert_eq!(other, expected);
        let own = directory.pool_settings(app, "u");
        assert_eq!(own, PoolSettings { mode: PoolMode::Statement, size: 8, reserve_size: 4, ..expected });
        assert_eq!(
            directory.user_capacity("u"),
            Capacity { servers: NonZeroU32::new(3), clients: NonZeroU32::new(30) }
        );
        assert_eq!(
            directory.user_capacity("somebody"),
            Capacity { servers: NonZeroU32::new(9), clients: None }
        );
        let user = &directory.users["u"];
        assert_eq!(user.query_timeout, Some(None));
        assert_eq!(user.idle_transaction_timeout, Some(Some(Duration::from_secs(4))));
        assert_eq!(user.client_idle_timeout, Some(Some(Duration::from_secs(6))));
        assert_eq!(directory.timeouts.client_idle, None);
    }

    #[test]
    fn without_a_reserve_timeout_there_is_no_reserve() {
        let directory = directory(
            "[pool]\nreserve_pool_size = 2\nreserve_pool_timeout = 0\n[databases.app]\nhost = \"db\"\n\
             [users.u]\npassword = \"x\"\nreserve_pool_size = 4\n",
        );
        let app = directory.database("app").expect("there");
        assert_eq!(directory.pool_settings(app, "u").reserve_size, 0);
        assert_eq!(directory.pool_settings(app, "somebody").reserve_size, 0);
    }

    #[test]
    fn sslmodes_become_wishes_and_equal_tls_settings_share_a_profile() {
        let directory = directory(
            "[databases.a]\nhost = \"h\"\nsslmode = \"disable\"\n[databases.b]\nhost = \"h\"\nsslmode = \"allow\"\n\
             [databases.c]\nhost = \"h\"\nsslmode = \"prefer\"\n[databases.d]\nhost = \"h\"\nsslmode = \"require\"\n\
             [databases.e]\nhost = \"h\"\nsslmode = \"verify-full\"\nsslrootcert = \"system\"\n\
             [databases.f]\nhost = \"/run\"\nsslmode = \"require\"\n[databases.g]\nhost = \"g\"\nsslmode = \"require\"\n\
             [users.u]\npassword = \"x\"\n",
        );
        let target =
            |name: &str| (directory.databases[name].target.tls, directory.databases[name].target.tls_profile);
        for name in ["a", "b", "f"] {
            assert_eq!(target(name).0, TlsWish::Never, "{name}");
        }
        assert_eq!(target("c").0, TlsWish::Prefer);
        assert_eq!(target("e").0, TlsWish::Require);
        assert_eq!(target("d"), target("g"));
        let numbers = ["b", "c", "d", "e"].map(|name| target(name).1);
        assert_eq!(numbers, [0, 1, 2, 3]);
        let second = |name: &str| directory.databases[name].target.second_try;
        assert_eq!(["b", "c", "d"].map(second), [Some(TlsWish::Require), Some(TlsWish::Never), None]);
    }

    #[test]
    fn clear_text_passwords_need_tls_over_tcp_but_not_over_the_unix_socket() {
        let text = "[limits]\nstartup_packet_bytes_max = 5000\nmessage_bytes_max = 100000\nscram_iterations_max = 5000\n\
                    [users.u]\npassword = \"x\"\n[auth]\ntype = \"password\"\n";
        let directory = directory(&format!("{text}{APP}"));
        let (tcp, unix) = (&directory.login_tcp, &directory.login_unix);
        assert_eq!((tcp.tls, unix.tls), (TlsOffer::Disabled, TlsOffer::Disabled));
        assert!(!tcp.cleartext_without_tls && unix.cleartext_without_tls);
        for settings in [tcp, unix] {
            assert_eq!(
                (settings.limits.startup_packet_bytes, settings.limits.message_bytes),
                (5000, 100_000)
            );
            assert_eq!(settings.mock_key, [7; KEY_BYTES]);
        }
        assert_eq!((directory.limits.message_bytes_max, directory.scram_iterations_max), (100_000, 5000));
        assert_eq!(directory.challenge, Challenge::Cleartext);
        assert_eq!(tls_offer(SslMode::Prefer), TlsOffer::Allowed);
        assert_eq!(tls_offer(SslMode::VerifyCa), TlsOffer::Required);
    }

    #[test]
    fn a_clear_text_password_stays_for_servers_and_its_keys_check_clients() {
        let directory = directory(&format!("{APP}[users.u]\npassword = \"x\"\n"));
        assert_eq!((directory.challenge, directory.any_user), (Challenge::Scram, false));
        assert!(
            matches!(&directory.users["u"].secret, Some(Secret::Plain(password)) if password.matches(b"x"))
        );
        assert!(matches!(directory.secret_of("u"), Some(Secret::Scram(_))));
        let cleartext =
            self::directory(&format!("{APP}[users.u]\npassword = \"x\"\n[auth]\ntype = \"md5\"\n"));
        assert!(matches!(cleartext.secret_of("u"), Some(Secret::Plain(_))));
    }

    #[test]
    fn the_auth_query_of_a_database_overrides_the_general_one() {
        let directory = directory(
            "[auth]\nuser = \"asker\"\nquery = \"SELECT 1, $1\"\nauth_cache_ttl = 0\n[databases.a]\nhost = \"h\"\n\
             [databases.b]\nhost = \"h\"\nauth_query = \"SELECT 2, $1\"\nauth_user = \"other\"\nauth_dbname = \"a\"\n",
        );
        let query = |name: &str| {
            let query = directory.databases[name].auth_query.as_ref().expect("asked");
            (query.sql.clone(), query.user.clone(), query.database.clone())
        };
        assert_eq!(query("a"), ("SELECT 1, $1".into(), "asker".into(), None));
        assert_eq!(query("b"), ("SELECT 2, $1".into(), "other".into(), Some("a".into())));
        assert_eq!(directory.auth_cache_ttl, Duration::ZERO);
    }

    #[test]
    fn users_of_an_unknown_database_are_looked_up_by_the_first_entry_with_an_auth_query() {
        let unknown_database_entry =
            |text: &str| directory(&format!("{text}[users.u]\npassword = \"x\"\n")).unknown_database_entry;
        assert_eq!(unknown_database_entry(APP), None, "no entry has an auth_query");
        let asked = "[auth]\nuser = \"asker\"\n[databases.\"*\"]\nhost = \"h\"\n";
        assert_eq!(unknown_database_entry(asked), None, "with the star entry no database is unknown");
        let b = "[databases.b]\nhost = \"h\"\nauth_user = \"asker\"\n";
        assert_eq!(unknown_database_entry(&format!("{APP}{b}")).as_deref(), Some("b"));
        let all = format!("[auth]\nuser = \"asker\"\ndbname = \"b\"\n{b}{APP}");
        assert_eq!(unknown_database_entry(&all).as_deref(), Some("app"));
    }

    #[test]
    fn a_bound_of_zero_is_none_and_names_are_in_lower_case() {
        let directory = directory(&format!(
            "ignore_startup_parameters = [\"Extra_Float_Digits\"]\n[timeouts]\nserver_connect_timeout = 0\n\
             query_timeout = 2\ncancel_wait_timeout = 0\npool_idle_timeout = 0\n[limits]\nclient_login_timeout = 5\nmax_prepared_statements = 0\n\
             [users.u]\npassword = \"x\"\n{APP}"
        ));
        let expected = Timeouts {
            client_login: Some(Duration::from_secs(5)),
            query: Some(Duration::from_secs(2)),
            abandoned_turn: Some(Duration::from_secs(5)),
            ..Timeouts::default()
        };
        assert_eq!(directory.timeouts, expected);
        assert_eq!(directory.limits.prepared_max, 0);
        assert_eq!(directory.ignored_parameters, ["extra_float_digits"]);
    }
}
