//! What happens because time passes: timeouts, and the maintenance of pools.

use std::time::Duration;

use trunkline_pool::{Limit, Micros, PoolId};
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::refusal::Refusal;
use crate::client::{Client, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::ServerStage;

fn has_passed(timeout: Option<Duration>, age: Micros) -> bool {
    timeout.is_some_and(|timeout| u128::from(age) >= timeout.as_micros())
}

impl Board {
    /// Time has passed. The shell calls this a few times per second.
    pub fn tick(&mut self) {
        self.expire_clients();
        self.expire_servers();
        for pool in self.local_pools.ids() {
            self.maintain_pool(pool);
        }
        self.forget_pools();
        self.secrets.expire(self.now, self.directory.auth_cache_ttl);
        if self.worker == 0 {
            self.shared.registry.sweep_next_shard();
        }
        self.serve_permit_queue();
        // A client that got an error and has sent its Sync gets ReadyForQuery before a shutdown closes it.
        self.run_due_tasks();
        self.continue_shutdown();
        self.run_due_tasks();
    }

    fn expire_clients(&mut self) {
        let expired: Vec<_> = self
            .clients
            .iter()
            .filter_map(|(key, client)| Some((key, self.expired_timeout(client)?)))
            .collect();
        for (key, (setting, refusal)) in expired {
            self.shared.count_limit_hit(setting);
            self.refuse(key, &refusal);
        }
    }

    /// The timeout that has expired for a client (the setting's name), and the error for the client. `None` if none has.
    fn expired_timeout(&self, client: &Client) -> Option<(&'static str, Refusal<'static>)> {
        let timeouts = &self.directory.timeouts;
        let age = self.age(client.last_active);
        if client.login.is_some() || matches!(client.stage, Stage::Cancelling) {
            let since = match client.stage {
                // The client has proved who it is. `query_wait_timeout` limits its wait.
                Stage::Waiting(Purpose::Probe | Purpose::Session) => return None,
                Stage::Linked(server, Purpose::Probe | Purpose::Session) => {
                    self.servers.get(server)?.last_change
                }
                // The client has not proved who it is. The time for its look-up counts too.
                _ => client.accepted,
            };
            return has_passed(timeouts.client_login, self.age(since)).then(|| {
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
            Stage::Idle if has_passed(client_idle, age) => {
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
                if !server.is_settled() && has_passed(query, self.age(server.last_change)) {
                    let code = SqlState::QUERY_CANCELED;
                    return Some((
                        "query_timeout",
                        Refusal::new(code, "the query took too long (query_timeout)"),
                    ));
                }
                let quiet = self.age(server.last_change.max(client.last_active));
                if server.is_settled() && in_transaction && has_passed(idle, quiet) {
                    let code = SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT;
                    let text = "the transaction was idle too long (idle_transaction_timeout)";
                    return Some(("idle_transaction_timeout", Refusal::new(code, text)));
                }
                let idle = server.is_settled() && !in_transaction;
                if idle && !client.pins.is_empty() && has_passed(timeouts.pin_idle, age) {
                    let text = "the connection was idle too long with a server connection of its own (pin_idle_timeout)";
                    return Some(("pin_idle_timeout", Refusal::new(SqlState::IDLE_SESSION_TIMEOUT, text)));
                }
                (idle && has_passed(client_idle, age)).then(|| {
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
                let age = self.age(server.last_change);
                let timeout = match server.stage {
                    // A chore gets as much time as a login. If it needs more, something is wrong with the server.
                    ServerStage::Login(_) | ServerStage::Chore(_) => timeouts.server_connect,
                    ServerStage::Finishing | ServerStage::Abandoned => timeouts.abandoned_turn,
                    ServerStage::Idle | ServerStage::Lent(_) => return None,
                };
                has_passed(timeout, age).then_some(key)
            })
            .collect();
        for key in stuck {
            match self.servers.get(key).map(|server| &server.stage) {
                Some(ServerStage::Login(_)) => {
                    let why = "the server did not answer in time (server_connect_timeout)";
                    self.server_lost(key, &Self::connection_failure_body(why));
                }
                Some(ServerStage::Chore(chore)) => {
                    let why =
                        format!("{chore:?}: the server did not answer in time (server_connect_timeout)");
                    self.server_lost(key, &Self::connection_failure_body(&why));
                }
                _ => self.end_stuck_turn(key),
            }
        }
    }

    /// The turn of a client that is gone takes too long. If its client left with a Terminate, the turn was allowed to run, and
    /// is cancelled now. Otherwise it was cancelled before, and the connection is closed now.
    fn end_stuck_turn(&mut self, key: ServerKey) {
        self.shared.count_limit_hit("abandoned_turn_timeout");
        let now = self.now;
        if let Some(server) = self.servers.get_mut(key)
            && matches!(server.stage, ServerStage::Finishing)
        {
            server.stage = ServerStage::Abandoned;
            server.last_change = now;
            self.cancel_server(key);
            return;
        }
        self.close_server(key);
    }

    fn maintain_pool(&mut self, pool: PoolId) {
        let now = self.now;
        self.move_nameless_counts(pool);
        while let Some(client) = self.next_expired_waiter(pool) {
            self.shared.count_limit_hit("query_wait_timeout");
            self.fail_expired_waiter(client, pool);
        }
        while let Some(server) = self.local_pool_mut(pool).and_then(|local| local.pool.pop_expired_idle(now))
        {
            self.close_server(server);
        }
        let unusable: Vec<ServerKey> = match self.local_pool(pool) {
            Some(local) => local.pool.idle_servers().filter(|server| self.cannot_be_lent(*server)).collect(),
            None => Vec::new(),
        };
        for server in unusable {
            if let Some(local) = self.local_pool_mut(pool) {
                local.pool.remove_idle(server);
            }
            self.close_server(server);
        }
        self.serve_queue(pool);
        while !self.paused
            && self.shutdown.is_none()
            && self.local_pool(pool).is_some_and(|local| !self.is_nameless(local))
            && self.local_pool_mut(pool).is_some_and(|local| local.pool.begin_opening_spare(now))
        {
            self.open_server(pool);
        }
    }

    fn next_expired_waiter(&mut self, pool: PoolId) -> Option<ClientKey> {
        let now = self.now;
        Some(self.local_pool_mut(pool)?.pool.pop_expired_waiter(now)?.client)
    }

    /// The limit that keeps a pool from opening another server connection now, and how many connections it counts. Adds to that
    /// limit's metric.
    fn count_reached_limit(&self, pool: PoolId) -> Option<(Limit, u32)> {
        let local = self.local_pool(pool)?;
        let ledger = local.pool.ledger();
        Some(match local.pool.reached_limit()? {
            Limit::PoolSize => (Limit::PoolSize, ledger.open()),
            Limit::Database => {
                self.shared.count_limit_hit("max_db_connections");
                (Limit::Database, ledger.database.servers())
            }
            Limit::User => {
                self.shared.count_limit_hit("max_user_connections");
                (Limit::User, ledger.user.servers())
            }
        })
    }

    fn fail_expired_waiter(&mut self, key: ClientKey, pool: PoolId) {
        let purpose = match self.clients.get(key).map(|client| &client.stage) {
            Some(Stage::Waiting(purpose)) => *purpose,
            _ => return,
        };
        let refusal = wait_expired_refusal(self.count_reached_limit(pool));
        if purpose == Purpose::AuthQuery {
            self.warn("auth_query", format!("auth_query cannot run: {}", refusal.message));
            return self.refuse_look_up(key);
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

/// The error for a client that has waited too long for a server connection.
fn wait_expired_refusal(limit: Option<(Limit, u32)>) -> Refusal<'static> {
    let (reason, hint) = match limit {
        Some((Limit::PoolSize, held)) => (
            format!("all {held} connections are in use"),
            "raise pool_size, or look for transactions that stay open",
        ),
        Some((Limit::Database, held)) => (
            format!("the pools of its database have all {held} connections (max_db_connections)"),
            "raise max_db_connections (max_connections of a database), or lower server_idle_timeout, so that idle connections are closed sooner",
        ),
        Some((Limit::User, held)) => (
            format!("the pools of its user have all {held} connections (max_user_connections)"),
            "raise max_user_connections (max_connections of a user), or lower server_idle_timeout, so that idle connections are closed sooner",
        ),
        None => (
            "none could be opened".to_owned(),
            "perhaps the server does not answer: see the log of the proxy",
        ),
    };
    let text = format!("no server connection became free in time (query_wait_timeout): {reason}");
    Refusal::new(SqlState::TOO_MANY_CONNECTIONS, text).hint(hint)
}
