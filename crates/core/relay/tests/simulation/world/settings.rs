//! The settings of a run. They are drawn from its seed.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_relay::{
    AuthQuery, Database, Directory, EarlyRelease, Target, Timeouts, TurnLimits, UnprovenLookUps, User,
};
use trunkline_session::authentication::{Password, Secret};
use trunkline_session::backend::{Challenge, LoginSettings};
use trunkline_session::frontend::TlsWish;

use crate::model_server::password_of;

/// The configuration of a run, and the kinds of faults that happen in it.
#[derive(Clone, Debug)]
pub(crate) struct Flavour {
    pub(crate) workers: usize,
    pub(crate) clients: usize,
    pub(crate) pool_size: u32,
    pub(crate) database_limit: u32,
    pub(crate) mode: PoolMode,
    pub(crate) servers_die: bool,
    pub(crate) clients_vanish: bool,
    pub(crate) cancels: bool,
    pub(crate) time_passes: bool,
    pub(crate) schema_changes: bool,
    pub(crate) untracked: bool,
    pub(crate) reloads: bool,
    pub(crate) pauses: bool,
    pub(crate) garbage: bool,
    pub(crate) copies: bool,
    pub(crate) start_parameters: bool,
    pub(crate) reports_at_once: bool,
    pub(crate) prepared_max: usize,
    pub(crate) buffer_bytes: usize,
    /// Between one message and more messages than a client here ever sends at once.
    pub(crate) round_messages_max: usize,
    pub(crate) lent_turns_max: usize,
    pub(crate) socket_bytes: usize,
    pub(crate) bytes_max: usize,
    pub(crate) two_pools: bool,
    /// Clients have passwords, and some passwords are looked up on a server.
    pub(crate) passwords: bool,
    pub(crate) passwords_kept: bool,
    pub(crate) limits: Limits,
    /// The servers get another port at a reload.
    pub(crate) moves: bool,
    pub(crate) shutdown: bool,
    /// How many connections a pool keeps open without clients.
    pub(crate) min_size: u32,
    pub(crate) connect_query: bool,
    pub(crate) check_query: bool,
    pub(crate) reset_always: bool,
    /// Early release is on: a client may pass its server connection on before its answers have come. The number is
    /// `EarlyRelease::buffered_bytes_max`.
    pub(crate) early: Option<usize>,
}

/// Limits of clients and their servers. 0: no limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) clients: u32,
    pub(crate) unauthenticated: u32,
    pub(crate) database_clients: u32,
    pub(crate) user_clients: u32,
    pub(crate) user_servers: u32,
}

impl Limits {
    pub(crate) fn draw(rng: &mut fastrand::Rng) -> Self {
        let mut limit = |most| if rng.u8(..) < 80 { rng.u32(1..=most) } else { 0 };
        Self {
            clients: limit(6),
            unauthenticated: limit(4),
            database_clients: limit(5),
            user_clients: limit(4),
            user_servers: limit(3),
        }
    }

    /// The looser one of each two limits.
    pub(crate) fn or(self, other: Self) -> Self {
        let either = |a: u32, b: u32| if a == 0 || b == 0 { 0 } else { a.max(b) };
        Self {
            clients: either(self.clients, other.clients),
            unauthenticated: either(self.unauthenticated, other.unauthenticated),
            database_clients: either(self.database_clients, other.database_clients),
            user_clients: either(self.user_clients, other.user_clients),
            user_servers: either(self.user_servers, other.user_servers),
        }
    }

    pub(crate) fn any(self) -> bool {
        let all = [self.clients, self.unauthenticated, self.database_clients, self.user_clients];
        all.iter().any(|limit| *limit != 0)
    }
}

/// The part of the configuration that a reload may change.
#[derive(Clone, Debug)]
pub(crate) struct Edition {
    pub(crate) epoch: u64,
    pub(crate) pool_size: u32,
    pub(crate) tracked: bool,
    /// The servers' port.
    pub(crate) port: u16,
    /// Whether the configuration has the database.
    pub(crate) present: bool,
    /// Whether passwords of unknown users are looked up.
    pub(crate) look_up: bool,
    pub(crate) limits: Limits,
}

impl Flavour {
    pub(crate) fn draw(rng: &mut fastrand::Rng) -> Self {
        let mut often = |of_256: u8| rng.u8(..) < of_256;
        let (servers_die, clients_vanish, cancels) = (often(90), often(128), often(110));
        let (time_passes, schema_changes, untracked) = (often(70), often(70), often(30));
        let (reloads, pauses, garbage) = (often(80), often(50), often(60));
        let (copies, start_parameters, reports_at_once) = (often(128), often(128), often(100));
        let (session, large, two_pools) = (often(30), often(40), often(60));
        let buffer_bytes = rng.choice([64, 300, 2_000, 64 << 10]).expect("sizes");
        let mut drawn = Self {
            workers: rng.usize(1..=3),
            clients: rng.usize(1..=7),
            pool_size: rng.u32(1..=4),
            database_limit: if two_pools { rng.u32(2..=5) } else { 0 },
            mode: match (session, rng.u8(..)) {
                (true, _) => PoolMode::Session,
                (false, ..30) => PoolMode::Statement,
                (false, 30..65) => PoolMode::Auto,
                (false, _) => PoolMode::Transaction,
            },
            servers_die,
            clients_vanish,
            cancels,
            time_passes,
            schema_changes,
            untracked,
            reloads,
            pauses,
            garbage,
            copies,
            start_parameters,
            reports_at_once,
            prepared_max: rng.choice([1, 2, 5, 200]).expect("sizes"),
            buffer_bytes,
            round_messages_max: (buffer_bytes / 60).min(1_000),
            lent_turns_max: rng.choice([1, 2, 10, 100]).expect("sizes"),
            socket_bytes: rng.choice([20, 200, 4_000, 100_000]).expect("sizes"),
            bytes_max: if large { 60_000 } else { 300 },
            two_pools,
            passwords: rng.u8(..) < 70,
            passwords_kept: rng.bool(),
            limits: if rng.u8(..) < 50 { Limits::draw(rng) } else { Limits::default() },
            moves: rng.u8(..) < 60,
            shutdown: rng.u8(..) < 50,
            min_size: if rng.u8(..) < 50 { rng.u32(1..=2) } else { 0 },
            connect_query: rng.u8(..) < 40,
            check_query: rng.bool(),
            reset_always: rng.u8(..) < 40,
            early: rng.bool().then_some(usize::MAX),
        };
        if drawn.mode == PoolMode::Auto {
            (drawn.database_limit, drawn.limits.user_servers) = (0, 0);
        }
        drawn
    }

    /// The first configuration.
    pub(crate) fn edition(&self) -> Edition {
        Edition {
            epoch: 1,
            pool_size: self.pool_size,
            tracked: true,
            port: 5432,
            present: true,
            look_up: self.passwords,
            limits: self.limits,
        }
    }

    /// Pinned clients keep their connections: where others wait for one until they leave, nobody could ever say that all
    /// is answered.
    pub(crate) fn room_for_all(&self, size: u32) -> u32 {
        if self.mode == PoolMode::Auto { size.max(16) } else { size }
    }

    /// Bounds as they are drawn, but none of server connections where clients keep theirs.
    pub(crate) fn draw_limits(&self, rng: &mut fastrand::Rng) -> Limits {
        let drawn = Limits::draw(rng);
        Limits { user_servers: if self.mode == PoolMode::Auto { 0 } else { drawn.user_servers }, ..drawn }
    }

    pub(crate) fn session(&self) -> bool {
        self.mode == PoolMode::Session
    }

    fn pool(&self, size: u32) -> PoolSettings {
        PoolSettings {
            mode: self.mode,
            size,
            min_size: self.min_size,
            reserve_size: u32::from(self.time_passes),
            reserve_timeout: Duration::from_secs(1),
            query_wait_timeout: self.time_passes.then_some(Duration::from_secs(4)),
            server_idle_timeout: Some(Duration::from_secs(20)),
            server_lifetime: Some(Duration::from_secs(60)),
            login_retry: Duration::from_secs(1),
            check_delay: Duration::from_secs(3),
            ..PoolSettings::default()
        }
    }

    /// The users of the configuration.
    fn users(&self, limits: Limits) -> HashMap<String, User> {
        let known = |user: &str| User {
            secret: self.passwords.then(|| Secret::Plain(Password::new(password_of(user)))),
            capacity: capacity(limits.user_servers, limits.user_clients),
            ..User::default()
        };
        ["u", "v"].map(|user| (user.to_owned(), known(user))).into()
    }

    // tidy: long because it is one table: a row for each setting
    pub(crate) fn directory(&self, edition: &Edition) -> Directory {
        let limits = edition.limits;
        let time = |seconds| self.time_passes.then(|| Duration::from_secs(seconds));
        let bound = |most: u32| (most > 0).then_some(most);
        let target = Target {
            host: "server".to_owned(),
            port: edition.port,
            tls: TlsWish::Never,
            second_try: None,
            tls_profile: 0,
        };
        let auth_query = AuthQuery { sql: "LOOKUP $1".to_owned(), user: "u".to_owned(), database: None };
        let database = Database {
            name: "d".to_owned(),
            server_name: None,
            target: Arc::new(target),
            forced_user: None,
            password: None,
            pool: self.pool(self.room_for_all(edition.pool_size)),
            capacity: capacity(self.database_limit, limits.database_clients),
            connect_query: self.connect_query.then(|| "SET work_mem='4MB';SELECT connected, 1, 1".to_owned()),
            parameters: Vec::new(),
            auth_query: edition.look_up.then(|| Arc::new(auth_query)),
        };
        let login = Arc::new(LoginSettings { cleartext_without_tls: true, ..LoginSettings::new([7; 32]) });
        Directory {
            epoch: edition.epoch,
            databases: edition.present.then(|| ("d".to_owned(), Arc::new(database))).into_iter().collect(),
            fallback: None,
            users: self.users(limits),
            other_users: capacity(limits.user_servers, limits.user_clients),
            challenge: if self.passwords { Challenge::Cleartext } else { Challenge::Trust },
            any_user: false,
            login_tcp: Arc::clone(&login),
            login_unix: login,
            scram_iterations_max: 10_000,
            ignored_parameters: Vec::new(),
            limits: TurnLimits {
                prepared_max: if edition.tracked { self.prepared_max } else { 0 },
                statement_bytes_max: 4_096,
                client_buffer_bytes: self.buffer_bytes,
                server_buffer_bytes: self.buffer_bytes,
                round_messages_max: self.round_messages_max,
                lent_turns_max: self.lent_turns_max,
                round_parse_bytes_max: self.round_messages_max * 8,
                ..TurnLimits::default()
            },
            early_release: self.early.map(|buffered_bytes_max| EarlyRelease { buffered_bytes_max }),
            clients_max: bound(limits.clients),
            unauthenticated_max: bound(limits.unauthenticated),
            cancels_max: 2,
            timeouts: Timeouts {
                client_login: time(10),
                client_idle: time(30),
                pin_idle: time(20),
                idle_transaction: time(8),
                query: time(12),
                server_connect: time(5),
                cancel_wait: time(3),
                pool_idle: time(15),
                abandoned_turn: time(10),
            },
            reset_query: "DISCARD ALL".to_owned(),
            reset_always: self.reset_always,
            check_query: if self.check_query { "SELECT live, 1, 1".to_owned() } else { String::new() },
            auth_cache_ttl: Duration::from_secs(u64::from(self.passwords_kept)),
            auth_cache_bytes_max: 1 << 16,
            unknown_database_entry: edition.look_up.then(|| "d".to_owned()),
            unproven_look_ups: UnprovenLookUps::default(),
            pools_max: None,
        }
    }
}

/// 0: no limit.
fn capacity(servers: u32, clients: u32) -> Capacity {
    Capacity { servers: NonZeroU32::new(servers), clients: NonZeroU32::new(clients) }
}
