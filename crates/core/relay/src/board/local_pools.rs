//! A worker's pools with what it has learnt about them.

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
    pub(super) fn local_pool(&self, id: PoolId) -> Option<&LocalPool> {
        self.local_pools.get(id)?.as_deref()
    }

    pub(super) fn local_pool_mut(&mut self, id: PoolId) -> Option<&mut LocalPool> {
        self.local_pools.get_mut(id)?.as_deref_mut()
    }

    /// Fits all pools to a new directory. A pool whose server, login or parameters changed, or that changes to session
    /// mode, opens its connections again; those in use leave when they come free.
    pub(super) fn configure_local_pools(&mut self, directory: &Directory) {
        for local in self.local_pools.iter_mut().flatten() {
            let Some(database) = directory.database(&local.name) else { continue };
            let credential = credential_of(directory, database, &local.user);
            let settings = directory.pool_settings(database, &local.user);
            let mode_before = local.pool.settings().mode;
            // What a connection has of earlier clients' statements is no business of a session's client.
            let to_sessions = settings.mode == PoolMode::Session && mode_before != PoolMode::Session;
            let moved = to_sessions
                || database.target != local.database.target
                || database.server_name != local.database.server_name
                || database.parameters != local.database.parameters
                || database.connect_query != local.database.connect_query;
            if moved {
                local.epoch = directory.epoch;
                local.welcome = None;
                local.proven.clear();
            }
            if !matches!(credential, Credential::None) {
                local.credential = credential;
            }
            local.pool.configure(settings, database.capacity, directory.user_capacity(&local.user));
            local.database = Arc::clone(database);
            local.schema = schema_of(&self.shared.schemas, database, &local.name);
        }
    }

    /// Every pool's figures. Walks all connections: for a scrape, not for a hot path.
    #[must_use]
    pub fn pools(&self) -> Vec<PoolStatus> {
        let status = |local: &Option<Box<LocalPool>>| local.as_deref().map(|local| self.pool_status(local));
        let mut pools: Vec<Option<PoolStatus>> = self.local_pools.iter().map(status).collect();
        let known = |id: PoolId| self.local_pools.get(id).map(|_| id.place());
        for (_, client) in self.clients.iter().filter(|(_, client)| client.login.is_none()) {
            let Some(pool) = client.home_pool.and_then(known).and_then(|at| pools[at].as_mut()) else {
                continue;
            };
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
