//! A worker's pools with what it has learnt about them.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::{Micros, Pool, PoolId, PoolMode};
use trunkline_session::authentication::Secret;
use trunkline_session::frontend::{Credential, ServerLogin};
use trunkline_wire::startup::ProtocolVersion;

use super::Board;
use super::welcomes::Welcome;
use crate::client::Stage;
use crate::counters::Counters;
use crate::directory::{Database, Directory, TlsWay};
use crate::prepared::{Schema, Schemas};
use crate::server::ServerStage;
use crate::{ClientKey, ServerKey};

/// Start-up parameters remembered as accepted by the server, in one pool.
const PROVEN_MAX: usize = 1024;

/// One pool of a worker.
pub(crate) struct Slot {
    pub(crate) pool: Pool<ClientKey, ServerKey>,
    pub(crate) database: Arc<Database>,
    /// The database's name as clients use it (the fallback entry serves many).
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) credential: Credential,
    pub(crate) welcome: Option<Arc<Welcome>>,
    /// Start-up parameters that the server has taken: name and value as given, value as the server has it.
    pub(crate) proven: HashMap<(String, String), String>,
    /// The definitions that its servers read statements by.
    pub(crate) schema: Arc<Schema>,
    pub(crate) counters: Counters,
    /// Clients here that are counted in the ledger.
    pub(crate) clients: u32,
    /// When somebody here had a use for the pool last; it may be forgotten when that is long ago.
    pub(crate) used: Micros,
    /// Why the last login failed, as an ErrorResponse for clients.
    pub(crate) last_error: Vec<u8>,
    pub(crate) epoch: u64,
    /// The way of TLS that worked last.
    pub(crate) tls_way: TlsWay,
}

/// The name, as database and as user, under which the figures of pools stand that have none of their own in metrics.
pub const NAMELESS: &str = "*";

/// A pool's figures, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolStatus {
    /// The database's name as clients use it.
    pub database: String,
    /// The user on the server.
    pub user: String,
    /// Clients logged in (all workers).
    pub clients: u32,
    /// Clients waiting here.
    pub waiting: usize,
    /// Clients here that hold a server connection.
    pub clients_active: u64,
    /// Clients here that do not, and do not wait for one.
    pub clients_idle: u64,
    /// Server connections (all workers).
    pub servers: u32,
    /// Idle server connections here.
    pub idle: usize,
    /// Server connections here that clients hold.
    pub servers_active: u64,
    /// Server connections here that are being cleaned, checked or drained.
    pub servers_busy: u64,
    /// Server connections being opened here.
    pub opening: u32,
    /// How long the first in the queue waits here, in microseconds.
    pub max_wait_us: u64,
    /// What was counted here.
    pub counters: Counters,
}

impl PoolStatus {
    fn nameless(counters: Counters) -> Self {
        let name = NAMELESS.to_owned();
        Self { database: name.clone(), user: name, counters, ..Self::default() }
    }

    /// Takes the figures of another pool of this worker in; not what all workers have together.
    fn add(&mut self, other: &Self) {
        self.waiting += other.waiting;
        self.clients_active += other.clients_active;
        self.clients_idle += other.clients_idle;
        self.idle += other.idle;
        self.servers_active += other.servers_active;
        self.servers_busy += other.servers_busy;
        self.opening += other.opening;
        self.max_wait_us = self.max_wait_us.max(other.max_wait_us);
        self.counters.add(&other.counters);
    }
}

impl Slot {
    pub(crate) fn remember(&mut self, name: &str, raw: &str, canonical: &str) {
        if self.proven.len() >= PROVEN_MAX {
            self.proven.clear();
        }
        self.proven.insert((name.to_owned(), raw.to_owned()), canonical.to_owned());
    }

    /// How to log in to the server.
    pub(crate) fn server_login(&self, directory: &Directory, way: TlsWay) -> ServerLogin {
        let database = self.database.server_name.as_deref().unwrap_or(&self.name);
        let mut login = ServerLogin::new(self.user.as_str(), database);
        login.parameters.clone_from(&self.database.parameters);
        login.credential = self.credential.clone();
        let target = &self.database.target;
        login.tls = target.second_try.filter(|_| way == TlsWay::Second).unwrap_or(target.tls);
        login.protocol = ProtocolVersion::V3_0;
        let on_this_machine = self.database.target.host.starts_with(['/', '@']);
        login.cleartext_without_tls = on_this_machine || directory.login_tcp.cleartext_without_tls;
        login.scram_iterations_max = directory.scram_iterations_max;
        login
    }
}

pub(super) fn schema_of(schemas: &Schemas, database: &Database, name: &str) -> Arc<Schema> {
    let there = database.server_name.as_deref().unwrap_or(name);
    schemas.of(&database.target.host, database.target.port, there)
}

/// What a configured user logs in to servers with.
pub(super) fn credential_of(directory: &Directory, database: &Database, user: &str) -> Credential {
    if let Some(password) = &database.password {
        return Credential::Password { password: password.clone(), cached: None };
    }
    match directory.users.get(user).and_then(|user| user.secret.as_ref()) {
        Some(Secret::Plain(password)) => Credential::Password { password: password.clone(), cached: None },
        Some(Secret::Md5(hash)) => Credential::Md5(hash.clone()),
        _ => Credential::None,
    }
}

impl Board {
    pub(super) fn slot(&self, id: PoolId) -> Option<&Slot> {
        self.slots.get(id)?.as_deref()
    }

    pub(super) fn slot_mut(&mut self, id: PoolId) -> Option<&mut Slot> {
        self.slots.get_mut(id)?.as_deref_mut()
    }

    /// Fits all pools to a new directory. A pool whose server, login or parameters changed, or that changes to session
    /// mode, opens its connections anew; those in use leave when they come free.
    pub(super) fn configure_slots(&mut self, directory: &Directory) {
        for slot in self.slots.iter_mut().flatten() {
            let Some(database) = directory.database(&slot.name) else { continue };
            let credential = credential_of(directory, database, &slot.user);
            let settings = directory.pool_settings(database, &slot.user);
            let mode_before = slot.pool.settings().mode;
            // What a connection has of earlier clients' statements is no business of a session's client.
            let to_sessions = settings.mode == PoolMode::Session && mode_before != PoolMode::Session;
            let moved = to_sessions
                || database.target != slot.database.target
                || database.server_name != slot.database.server_name
                || database.parameters != slot.database.parameters
                || database.connect_query != slot.database.connect_query;
            if moved {
                slot.epoch = directory.epoch;
                slot.welcome = None;
                slot.proven.clear();
            }
            if !matches!(credential, Credential::None) {
                slot.credential = credential;
            }
            slot.pool.configure(settings, database.capacity, directory.user_capacity(&slot.user));
            slot.database = Arc::clone(database);
            slot.schema = schema_of(&self.shared.schemas, database, &slot.name);
        }
    }

    /// Every pool's figures. Walks all connections: for a scrape, not for a hot path.
    #[must_use]
    pub fn pools(&self) -> Vec<PoolStatus> {
        let status = |slot: &Option<Box<Slot>>| slot.as_deref().map(|slot| self.pool_status(slot));
        let mut pools: Vec<Option<PoolStatus>> = self.slots.iter().map(status).collect();
        let known = |id: PoolId| self.slots.get(id).map(|_| id.place());
        for (_, client) in self.clients.iter().filter(|(_, client)| client.login.is_none()) {
            let Some(pool) = known(client.home).and_then(|at| pools[at].as_mut()) else { continue };
            match client.stage {
                Stage::Login | Stage::Idle => pool.clients_idle += 1,
                Stage::Linked(..) | Stage::Owed(_) => pool.clients_active += 1,
                // Those in the queue are counted by the pool; a cancel request is no client of it.
                Stage::Waiting(_) | Stage::Cancelling => {}
            }
        }
        for (_, server) in self.servers.iter() {
            let Some(pool) = known(server.pool).and_then(|at| pools[at].as_mut()) else { continue };
            match server.stage {
                ServerStage::Lent(_) => pool.servers_active += 1,
                ServerStage::Chore(_) | ServerStage::Finishing | ServerStage::Abandoned => {
                    pool.servers_busy += 1;
                }
                // Counted by the pool.
                ServerStage::Login(_) | ServerStage::Idle => {}
            }
        }
        let mut rest = PoolStatus::nameless(self.forgotten);
        let mut named = Vec::with_capacity(pools.len());
        for (slot, pool) in self.slots.iter().zip(pools) {
            match (slot, pool) {
                (Some(slot), Some(pool)) if self.is_nameless(slot) => rest.add(&pool),
                (_, Some(pool)) => named.push(pool),
                (_, None) => {}
            }
        }
        if rest != PoolStatus::nameless(Counters::default()) {
            named.push(rest);
        }
        named
    }

    fn pool_status(&self, slot: &Slot) -> PoolStatus {
        let first = slot.pool.waiters().next();
        PoolStatus {
            database: slot.name.clone(),
            user: slot.user.clone(),
            clients: slot.pool.ledger().database.clients(),
            waiting: slot.pool.waiting(),
            clients_active: 0,
            clients_idle: 0,
            servers: slot.pool.ledger().open(),
            idle: slot.pool.idle(),
            servers_active: 0,
            servers_busy: 0,
            opening: slot.pool.opening(),
            max_wait_us: first.map_or(0, |waiter| self.now.saturating_sub(waiter.since)),
            counters: slot.counters,
        }
    }
}
