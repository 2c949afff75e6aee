//! What a run is made of: drawn from its seed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_relay::{Database, Directory, Target, Timeouts, TurnLimits, User};
use trunkline_session::backend::{Challenge, LoginSettings};
use trunkline_session::frontend::TlsWish;

/// Which faults and habits a run has.
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
    pub(crate) socket_bytes: usize,
    pub(crate) bytes_max: usize,
    pub(crate) two_pools: bool,
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
        Self {
            workers: rng.usize(1..=3),
            clients: rng.usize(1..=7),
            pool_size: rng.u32(1..=4),
            database_limit: if two_pools { rng.u32(2..=5) } else { 0 },
            mode: if session { PoolMode::Session } else { PoolMode::Transaction },
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
            socket_bytes: rng.choice([20, 200, 4_000, 100_000]).expect("sizes"),
            bytes_max: if large { 60_000 } else { 300 },
            two_pools,
        }
    }

    pub(crate) fn session(&self) -> bool {
        self.mode == PoolMode::Session
    }

    fn pool(&self, size: u32) -> PoolSettings {
        let time = |seconds| if self.time_passes { Duration::from_secs(seconds) } else { Duration::ZERO };
        PoolSettings {
            mode: self.mode,
            size,
            reserve_size: u32::from(self.time_passes),
            reserve_timeout: Duration::from_secs(1),
            query_wait_timeout: time(4),
            server_idle_timeout: Duration::from_secs(20),
            server_lifetime: Duration::from_secs(60),
            login_retry: Duration::from_secs(1),
            check_delay: Duration::from_secs(3),
            ..PoolSettings::default()
        }
    }

    /// The configuration of the `epoch`th reload.
    pub(crate) fn directory(&self, epoch: u64, pool_size: u32, tracked: bool) -> Directory {
        let time = |seconds| if self.time_passes { Duration::from_secs(seconds) } else { Duration::ZERO };
        let target = Target {
            host: "server".to_owned(),
            port: 5432,
            tls: TlsWish::Never,
            second_try: None,
            tls_profile: 0,
        };
        let database = Database {
            name: "d".to_owned(),
            server_name: None,
            target: Arc::new(target),
            forced_user: None,
            password: None,
            pool: self.pool(pool_size),
            capacity: Capacity { servers: self.database_limit, clients: 0 },
            connect_query: None,
            parameters: Vec::new(),
            auth_query: None,
        };
        let login = Arc::new(LoginSettings::new([7; 32]));
        let users = ["u", "v"].map(|user| (user.to_owned(), User::default()));
        Directory {
            epoch,
            databases: HashMap::from([("d".to_owned(), Arc::new(database))]),
            fallback: None,
            users: HashMap::from(users),
            other_users: Capacity::default(),
            challenge: Challenge::Trust,
            any_user: false,
            login_tcp: Arc::clone(&login),
            login_unix: login,
            scram_iterations_max: 10_000,
            ignored_parameters: Vec::new(),
            extra_parameters: Vec::new(),
            limits: TurnLimits {
                prepared_max: if tracked { self.prepared_max } else { 0 },
                statement_bytes_max: 4_096,
                client_buffer_bytes: self.buffer_bytes,
                server_buffer_bytes: self.buffer_bytes,
                ..TurnLimits::default()
            },
            clients_max: 0,
            unauthenticated_max: 0,
            cancels_max: 2,
            timeouts: Timeouts {
                client_login: time(10),
                client_idle: time(30),
                idle_transaction: time(8),
                query: time(12),
                server_connect: time(5),
                cancel_wait: time(3),
                abandoned_turn: time(10),
            },
            reset_query: "DISCARD ALL".to_owned(),
            reset_always: false,
            check_query: String::new(),
            auth_cache_ttl: Duration::ZERO,
        }
    }
}
