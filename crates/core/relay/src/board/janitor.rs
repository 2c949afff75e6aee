//! What happens because time passes.

use std::time::Duration;

use trunkline_pool::{Micros, PoolId, Refused};
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::refusal::Refusal;
use crate::client::{Client, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::ServerStage;

fn passed(timeout: Option<Duration>, age: Micros) -> bool {
    timeout.is_some_and(|timeout| u128::from(age) >= timeout.as_micros())
}

impl Board {
    /// Call a few times a second.
    pub fn tick(&mut self) {
        self.expire_clients();
        self.expire_servers();
        for pool in self.local_pools.ids() {
            self.tend_pool(pool);
        }
        self.forget_pools();
        self.secrets.expire(self.now, self.directory.auth_cache_ttl);
        if self.worker == 0 {
            self.shared.registry.tend();
        }
        self.serve_strangers();
        // Who was told of an error, and has sent the end of its turn, reads that it is ready before it is sent away.
        self.do_what_is_due();
        self.tend_shutdown();
        self.do_what_is_due();
    }

    fn expire_clients(&mut self) {
        let expired: Vec<_> =
            self.clients.iter().filter_map(|(key, client)| Some((key, self.overdue(client)?))).collect();
        for (key, (bound, refusal)) in expired {
            self.shared.hit(bound);
            self.refuse(key, &refusal);
        }
    }

    /// Why a client must go now, if it must.
    fn overdue(&self, client: &Client) -> Option<(&'static str, Refusal<'static>)> {
        let timeouts = &self.directory.timeouts;
        let age = self.age(client.since);
        if client.login.is_some() || matches!(client.stage, Stage::Cancelling) {
            let since = match client.stage {
                // It has proved who it is, and `query_wait_timeout` bounds its wait.
                Stage::Waiting(Purpose::Probe | Purpose::Session) => return None,
                Stage::Linked(server, Purpose::Probe | Purpose::Session) => self.servers.get(server)?.since,
                // A client that has proved nothing yet has no more time than that for a look-up either.
                _ => client.accepted,
            };
            return passed(timeouts.client_login, self.age(since)).then(|| {
                let code = SqlState::CONNECTION_FAILURE;
                ("client_login_timeout", Refusal::new(code, "the login took too long (client_login_timeout)"))
            });
        }
        let user = client
            .home_pool
            .and_then(|home| self.local_pool(home))
            .and_then(|local| self.directory.users.get(&local.user));
        let client_idle = user.and_then(|user| user.client_idle_timeout).unwrap_or(timeouts.client_idle);
        match client.stage {
            Stage::Idle if passed(client_idle, age) => {
                let code = SqlState::IDLE_SESSION_TIMEOUT;
                Some((
                    "client_idle_timeout",
                    Refusal::new(code, "the connection was idle too long (client_idle_timeout)"),
                ))
            }
            Stage::Linked(server, Purpose::Turn | Purpose::Session) | Stage::Owed(server) => {
                let server = self.servers.get(server)?;
                let in_transaction = server.status != TransactionStatus::Idle;
                let query = user.and_then(|user| user.query_timeout).unwrap_or(timeouts.query);
                let idle =
                    user.and_then(|user| user.idle_transaction_timeout).unwrap_or(timeouts.idle_transaction);
                if !server.is_settled() && passed(query, self.age(server.since)) {
                    let code = SqlState::QUERY_CANCELED;
                    return Some((
                        "query_timeout",
                        Refusal::new(code, "the query took too long (query_timeout)"),
                    ));
                }
                let quiet = self.age(server.since.max(client.since));
                if server.is_settled() && in_transaction && passed(idle, quiet) {
                    let code = SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT;
                    let text = "the transaction was idle too long (idle_transaction_timeout)";
                    return Some(("idle_transaction_timeout", Refusal::new(code, text)));
                }
                let idle = server.is_settled() && !in_transaction;
                if idle && !client.pins.is_empty() && passed(timeouts.pin_idle, age) {
                    let text = "the connection was idle too long with a server connection of its own (pin_idle_timeout)";
                    return Some(("pin_idle_timeout", Refusal::new(SqlState::IDLE_SESSION_TIMEOUT, text)));
                }
                (idle && passed(client_idle, age)).then(|| {
                    let text = "the connection was idle too long (client_idle_timeout)";
                    ("client_idle_timeout", Refusal::new(SqlState::IDLE_SESSION_TIMEOUT, text))
                })
            }
            _ => None,
        }
    }

    fn expire_servers(&mut self) {
        let timeouts = self.directory.timeouts.clone();
        let stuck: Vec<ServerKey> = self
            .servers
            .iter()
            .filter_map(|(key, server)| {
                let age = self.age(server.since);
                let timeout = match server.stage {
                    // A chore answers as fast as a login, or something is wrong with the server.
                    ServerStage::Login(_) | ServerStage::Chore(_) => timeouts.server_connect,
                    ServerStage::Finishing | ServerStage::Abandoned => timeouts.abandoned_turn,
                    ServerStage::Idle | ServerStage::Lent(_) => return None,
                };
                passed(timeout, age).then_some(key)
            })
            .collect();
        for key in stuck {
            match self.servers.get(key).map(|server| &server.stage) {
                Some(ServerStage::Login(_)) => {
                    let why = "the server did not answer in time (server_connect_timeout)";
                    self.server_lost(key, &Self::lost_body(why));
                }
                Some(ServerStage::Chore(chore)) => {
                    let why =
                        format!("{chore:?}: the server did not answer in time (server_connect_timeout)");
                    self.server_lost(key, &Self::lost_body(&why));
                }
                _ => self.end_stuck_turn(key),
            }
        }
    }

    /// The turn of a client that has gone takes too long: it is cancelled if its client has said good-bye, else the
    /// connection is closed.
    fn end_stuck_turn(&mut self, key: ServerKey) {
        self.shared.hit("abandoned_turn_timeout");
        let now = self.now;
        if let Some(server) = self.servers.get_mut(key)
            && matches!(server.stage, ServerStage::Finishing)
        {
            server.stage = ServerStage::Abandoned;
            server.since = now;
            self.cancel_server(key);
            return;
        }
        self.close_server(key);
    }

    fn tend_pool(&mut self, pool: PoolId) {
        let now = self.now;
        self.keep_nameless_counts(pool);
        while let Some(client) = self.next_expired_waiter(pool) {
            self.shared.hit("query_wait_timeout");
            self.wait_expired(client, pool);
        }
        while let Some(server) = self.local_pool_mut(pool).and_then(|local| local.pool.expired_idle(now)) {
            self.close_server(server);
        }
        let spent: Vec<ServerKey> = match self.local_pool(pool) {
            Some(local) => local.pool.idle_servers().filter(|server| self.is_spent(*server)).collect(),
            None => Vec::new(),
        };
        for server in spent {
            if let Some(local) = self.local_pool_mut(pool) {
                local.pool.remove_idle(server);
            }
            self.close_server(server);
        }
        self.serve_queue(pool);
        while !self.paused
            && self.shutdown.is_none()
            && self.local_pool(pool).is_some_and(|local| !self.is_nameless(local))
            && self.local_pool_mut(pool).is_some_and(|local| local.pool.want_spare(now))
        {
            self.open_server(pool);
        }
    }

    fn next_expired_waiter(&mut self, pool: PoolId) -> Option<ClientKey> {
        let now = self.now;
        Some(self.local_pool_mut(pool)?.pool.expired_waiter(now)?.client)
    }

    /// The bound that keeps a pool from another server connection now, which is counted, and what is held under it.
    fn hit_bound(&self, pool: PoolId) -> Option<(Refused, u32)> {
        let local = self.local_pool(pool)?;
        let ledger = local.pool.ledger();
        Some(match local.pool.bound()? {
            Refused::PoolSize => (Refused::PoolSize, ledger.open()),
            Refused::Database => {
                self.shared.hit("max_db_connections");
                (Refused::Database, ledger.database.servers())
            }
            Refused::User => {
                self.shared.hit("max_user_connections");
                (Refused::User, ledger.user.servers())
            }
        })
    }

    fn wait_expired(&mut self, key: ClientKey, pool: PoolId) {
        let purpose = match self.clients.get(key).map(|client| &client.stage) {
            Some(Stage::Waiting(purpose)) => *purpose,
            _ => return,
        };
        let refusal = waited_in_vain(self.hit_bound(pool));
        if purpose == Purpose::AuthQuery {
            self.warn("auth_query", format!("auth_query cannot be asked: {}", refusal.message));
            return self.cannot_look_up(key);
        }
        if purpose == Purpose::Turn {
            let mut error = Vec::new();
            refusal.encode(false, &mut error);
            self.fail_turn(key, &error);
        } else {
            self.refuse(key, &refusal);
        }
    }
}

/// What a client is told whose wait is over.
fn waited_in_vain(bound: Option<(Refused, u32)>) -> Refusal<'static> {
    let (reason, hint) = match bound {
        Some((Refused::PoolSize, held)) => {
            (format!("all {held} are in use"), "raise pool_size, or look for transactions that stay open")
        }
        Some((Refused::Database, held)) => (
            format!("pools of its database hold all {held} (max_db_connections)"),
            "raise max_db_connections (max_connections of a database), or have idle ones closed sooner (server_idle_timeout)",
        ),
        Some((Refused::User, held)) => (
            format!("pools of its user hold all {held} (max_user_connections)"),
            "raise max_user_connections (max_connections of a user), or have idle ones closed sooner (server_idle_timeout)",
        ),
        None => (
            "none could be opened".to_owned(),
            "the server may not answer: the proxy's log says what it knows",
        ),
    };
    let text = format!("no server connection came free in time (query_wait_timeout): {reason}");
    Refusal::new(SqlState::TOO_MANY_CONNECTIONS, text).hint(hint)
}
