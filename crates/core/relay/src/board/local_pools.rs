//! A worker's parts of pools: how to find them, adapt them to a reloaded configuration, and give their figures.

use std::sync::Arc;

use trunkline_pool::{PoolId, PoolMode};
use trunkline_session::authentication::Secret;
use trunkline_session::frontend::Credential;

use super::Board;
use super::kept::local_pool::LocalPool;
use super::kept::pool_status::PoolStatus;
use crate::carried::prepared::{Schema, Schemas};
use crate::client::Stage;
use crate::counters::Counters;
use crate::directory::{Database, Directory};
use crate::server::ServerStage;

pub(super) fn schema_of(schemas: &Schemas, database: &Database, name: &str) -> Arc<Schema> {
    let server_name = database.server_name.as_deref().unwrap_or(name);
    schemas.find_or_add(&database.target.host, database.target.port, server_name)
}

/// The credential with which the configuration lets a pool log in to servers.
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
    pub(super) fn local_pool(&self, id: PoolId) -> Option<&LocalPool> {
        self.local_pools.get(id)?.as_deref()
    }

    pub(super) fn local_pool_mut(&mut self, id: PoolId) -> Option<&mut LocalPool> {
        self.local_pools.get_mut(id)?.as_deref_mut()
    }

    /// Adapts all pools to a new directory. If a pool's server, database, parameters or `connect_query` have changed, or if it
    /// changes to session mode, its old connections are closed when they are free, and new ones are opened.
    pub(super) fn configure_local_pools(&mut self, directory: &Directory) {
        for local in self.local_pools.iter_mut().flatten() {
            let Some(database) = directory.database(&local.name) else { continue };
            let credential = credential_of(directory, database, &local.user);
            let settings = directory.pool_settings(database, &local.user);
            let mode_before = local.pool.settings().mode;
            // A client in session mode must not find the prepared statements of earlier clients.
            let to_sessions = settings.mode == PoolMode::Session && mode_before != PoolMode::Session;
            let needs_new_connections = to_sessions
                || database.target != local.database.target
                || database.server_name != local.database.server_name
                || database.parameters != local.database.parameters
                || database.connect_query != local.database.connect_query;
            if needs_new_connections {
                local.epoch = directory.epoch;
                local.welcome = None;
                local.canonical_values.clear();
            }
            if !matches!(credential, Credential::None) {
                local.credential = credential;
            }
            local.pool.configure(settings, database.capacity, directory.user_capacity(&local.user));
            local.database = Arc::clone(database);
            local.schema = schema_of(&self.shared.schemas, database, &local.name);
        }
    }

    /// The figures of all pools. This walks all connections, so it is for metrics and not for each turn.
    #[must_use]
    pub fn pools(&self) -> Vec<PoolStatus> {
        let status = |local: &Option<Box<LocalPool>>| local.as_deref().map(|local| self.pool_status(local));
        let mut pools: Vec<Option<PoolStatus>> = self.local_pools.iter().map(status).collect();
        let place = |id: PoolId| self.local_pools.get(id).map(|_| id.place());
        for (_, client) in self.clients.iter().filter(|(_, client)| client.login.is_none()) {
            let Some(pool) = client.home_pool.and_then(place).and_then(|at| pools[at].as_mut()) else {
                continue;
            };
            match client.stage {
                Stage::Login | Stage::Idle => pool.clients_idle += 1,
                Stage::Linked(..) | Stage::Owed(_) => pool.clients_active += 1,
                // The pool itself counts its waiting clients, and a cancel request is no client of a pool.
                Stage::Waiting(_) | Stage::Cancelling => {}
            }
        }
        for (_, server) in self.servers.iter() {
            let Some(pool) = place(server.pool).and_then(|at| pools[at].as_mut()) else { continue };
            match server.stage {
                ServerStage::Lent(_) => pool.servers_active += 1,
                ServerStage::Chore(_) | ServerStage::Finishing | ServerStage::Abandoned => {
                    pool.servers_busy += 1;
                }
                // The pool itself counts these.
                ServerStage::Login(_) | ServerStage::Idle => {}
            }
        }
        let mut rest = PoolStatus::nameless(self.forgotten_counters);
        let mut named = Vec::with_capacity(pools.len());
        for (local, pool) in self.local_pools.iter().zip(pools) {
            match (local, pool) {
                (Some(local), Some(pool)) if self.is_nameless(local) => rest.add(&pool),
                (_, Some(pool)) => named.push(pool),
                (_, None) => {}
            }
        }
        if rest != PoolStatus::nameless(Counters::default()) {
            named.push(rest);
        }
        named
    }

    fn pool_status(&self, local: &LocalPool) -> PoolStatus {
        let first = local.pool.waiters().next();
        PoolStatus {
            database: local.name.clone(),
            user: local.user.clone(),
            clients: local.pool.ledger().database.clients(),
            waiting: local.pool.waiting(),
            clients_active: 0,
            clients_idle: 0,
            servers: local.pool.ledger().open(),
            idle: local.pool.idle(),
            servers_active: 0,
            servers_busy: 0,
            opening: local.pool.opening(),
            max_wait_us: first.map_or(0, |waiter| self.now.saturating_sub(waiter.since)),
            counters: local.counters,
        }
    }
}
