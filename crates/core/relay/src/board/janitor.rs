//! What happens because time passes.

use std::time::Duration;

use trunkline_pool::{Micros, PoolId, Refused};
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::refusal::Refusal;
use crate::client::{Client, Purpose, Stage};
use crate::server::ServerStage;
use crate::{ClientKey, ServerKey};

fn passed(timeout: Duration, age: Micros) -> bool {
    !timeout.is_zero() && u128::from(age) >= timeout.as_micros()
}

impl Board {
    /// Call a few times a second.
    pub fn tick(&mut self) {
        self.expire_clients();
        self.expire_servers();
        for pool in self.slots.ids() {
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
            // Who has proved nothing yet has no more time than that for a look-up either.
            let queued = matches!(
                client.stage,
                Stage::Waiting(Purpose::Probe | Purpose::Session)
                    | Stage::Linked(_, Purpose::Probe | Purpose::Session)
            );
            return (!queued && passed(timeouts.client_login, self.age(client.accepted))).then(|| {
                let code = SqlState::CONNECTION_FAILURE;
                ("client_login_timeout", Refusal::new(code, "the login took too long (client_login_timeout)"))
            });
        }
        let user = self.slot(client.home).and_then(|slot| self.directory.users.get(&slot.user));
        let client_idle = user.and_then(|user| user.client_idle_timeout).unwrap_or(timeouts.client_idle);
        match client.stage {
            Stage::Idle if passed(client_idle, age) => {
                let code = SqlState::IDLE_SESSION_TIMEOUT;
                Some((
                    "client_idle_timeout",
                    Refusal::new(code, "the connection was idle too long (client_idle_timeout)"),
                ))
            }
            Stage::Linked(server, Purpose::Turn | Purpose::Session) => {
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
                (server.is_settled() && !in_transaction && passed(client_idle, age)).then(|| {
                    let text = "the connection was idle too long (client_idle_timeout)";
                    ("client_idle_timeout", Refusal::new(SqlState::IDLE_SESSION_TIMEOUT, text))
                })
            }
            _ => None,
        }
    }

    fn expire_servers(&mut self) {
        let timeouts = self.directory.timeouts.clone();
        let stuck: Vec<(ServerKey, bool)> = self
            .servers
            .iter()
            .filter_map(|(key, server)| {
                let age = self.age(server.since);
                match server.stage {
                    ServerStage::Login(_) => passed(timeouts.server_connect, age).then_some((key, true)),
                    ServerStage::Abandoned => passed(timeouts.abandoned_turn, age).then_some((key, false)),
                    // A chore answers as fast as a login, or something is wrong with the server.
                    ServerStage::Chore(_) => passed(timeouts.server_connect, age).then_some((key, false)),
                    ServerStage::Idle | ServerStage::Lent(_) => None,
                }
            })
            .collect();
        for (key, login) in stuck {
            if login {
                let why = "the server did not answer in time (server_connect_timeout)";
                self.server_lost(key, &Self::lost_body(why));
                continue;
            }
            self.shared.hit("abandoned_turn_timeout");
            let now = self.now;
            if let Some(server) = self.servers.get_mut(key)
                && std::mem::take(&mut server.unhurried)
            {
                server.since = now;
                self.cancel_server(key);
                continue;
            }
            self.close_server(key);
        }
    }

    fn tend_pool(&mut self, pool: PoolId) {
        let now = self.now;
        self.keep_nameless_counts(pool);
        while let Some(client) = self.next_expired_waiter(pool) {
            self.shared.hit("query_wait_timeout");
            self.wait_expired(client, pool);
        }
        while let Some(server) = self.slot_mut(pool).and_then(|slot| slot.pool.expired_idle(now)) {
            self.close_server(server);
        }
        let spent: Vec<ServerKey> = match self.slot(pool) {
            Some(slot) => slot.pool.idle_servers().filter(|server| self.is_spent(*server)).collect(),
            None => Vec::new(),
        };
        for server in spent {
            if let Some(slot) = self.slot_mut(pool) {
                slot.pool.remove_idle(server);
            }
            self.close_server(server);
        }
        self.serve_queue(pool);
        while !self.paused
            && self.shutdown.is_none()
            && self.slot(pool).is_some_and(|slot| !self.is_nameless(slot))
            && self.slot_mut(pool).is_some_and(|slot| slot.pool.want_spare(now))
        {
            self.open_server(pool);
        }
    }

    fn next_expired_waiter(&mut self, pool: PoolId) -> Option<ClientKey> {
        let now = self.now;
        Some(self.slot_mut(pool)?.pool.expired_waiter(now)?.client)
    }

    fn waited_too_long(&self, pool: PoolId) -> Refusal<'static> {
        let (mut busy, mut bound) = (0, None);
        if let Some(slot) = self.slot(pool) {
            let ledger = slot.pool.ledger();
            bound = slot.pool.bound();
            busy = match bound {
                Some(Refused::Database) => ledger.database.servers(),
                Some(Refused::User) => ledger.user.servers(),
                Some(Refused::PoolSize) | None => ledger.open(),
            };
        }
        let (of, hint) = match bound {
            Some(Refused::Database) => {
                self.shared.hit("max_db_connections");
                (
                    " of the database",
                    "raise max_db_connections (a database's own: max_connections), or close other pools' connections sooner (server_idle_timeout)",
                )
            }
            Some(Refused::User) => {
                self.shared.hit("max_user_connections");
                (
                    " of the user",
                    "raise max_user_connections (a user's own: max_connections), or close other pools' connections sooner (server_idle_timeout)",
                )
            }
            Some(Refused::PoolSize) | None => {
                ("", "raise pool_size, or look for transactions that stay open")
            }
        };
        let text =
            format!("no server connection came free in time (query_wait_timeout); all {busy}{of} are in use");
        Refusal::new(SqlState::TOO_MANY_CONNECTIONS, text).hint(hint)
    }

    fn wait_expired(&mut self, key: ClientKey, pool: PoolId) {
        let purpose = match self.clients.get(key).map(|client| &client.stage) {
            Some(Stage::Waiting(purpose)) => *purpose,
            _ => return,
        };
        if purpose == Purpose::AuthQuery {
            self.warn(
                "auth_query",
                "no server connection came free in time for auth_query (query_wait_timeout)",
            );
            return self.cannot_look_up(key);
        }
        let refusal = self.waited_too_long(pool);
        if purpose == Purpose::Turn {
            let mut error = Vec::new();
            refusal.encode(false, &mut error);
            self.fail_turn(key, &error);
        } else {
            self.refuse(key, &refusal);
        }
    }
}
