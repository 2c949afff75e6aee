//! Cancel requests. Each must hit exactly the query of the client that it names.

use std::sync::Arc;

use trunkline_wire::sqlstate::SqlState;

use super::kept::cancels::CancelTicket;
use super::kept::due::Due;
use super::refusal::Refusal;
use super::{Action, Board, Mail};
use crate::client::{Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::Cancel;
use crate::turn::Owner;

impl Board {
    /// The connection `key` has sent a cancel request, which names another client.
    pub(super) fn cancel_requested(&mut self, key: ClientKey, process_id: i32, secret: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Cancelling;
        client.last_active = self.now;
        match self.shared.cancel_keys.find(process_id, secret) {
            // The key names no client, or one that has left: close the connection without an error, as PostgreSQL does.
            None => self.client_left(key),
            Some((worker, victim)) if worker == self.worker => self.cancel_client(victim, worker, key),
            Some((worker, victim)) => {
                let mail = Mail::Cancel(victim, self.worker, key);
                self.actions.push_back(Action::Mail(worker, mail));
            }
        }
    }

    /// Cancels the query of `victim`, a client of this worker. The client `asker` of the worker `from` has asked for it.
    pub(super) fn cancel_client(&mut self, victim: ClientKey, from: usize, asker: ClientKey) {
        let stage = self.clients.get(victim).map(|client| &client.stage);
        match stage {
            Some(Stage::Waiting(Purpose::Turn)) => {
                let pool = self.clients.get(victim).and_then(|client| client.pool);
                if let Some(local) = pool.and_then(|pool| self.local_pool_mut(pool)) {
                    local.pool.leave_queue(victim);
                }
                let mut error = Vec::new();
                Refusal::new(SqlState::QUERY_CANCELED, "canceling statement due to user request")
                    .encode(false, &mut error);
                self.fail_turn(victim, &error);
            }
            Some(Stage::Linked(server, Purpose::Turn | Purpose::Session) | Stage::Owed(server)) => {
                let server = *server;
                let is_alone = self.serves_only(server, victim);
                if let (false, Some(server)) = (is_alone, self.servers.get_mut(server)) {
                    // The server cancels what it runs when the request arrives. That could be another client's turn.
                    server.turns.want_cancel(victim);
                    return self.answer_cancel(from, asker);
                }
                let runs = |server: &crate::server::Server| {
                    matches!(server.turns.owner(), Some(Owner::Client(_))) && !server.turns.is_settled()
                };
                if self.servers.get(server).is_some_and(runs) && self.cancel_server(server) {
                    self.cancels.askers.entry(server).or_default().push((from, asker));
                    return;
                }
            }
            _ => {}
        }
        self.answer_cancel(from, asker);
    }

    /// Closes the connection that has asked for the cancel: the protocol has no other answer.
    fn answer_cancel(&mut self, worker: usize, asker: ClientKey) {
        if worker == self.worker {
            self.due.push_back(Due::CloseCanceller(asker));
        } else {
            self.actions.push_back(Action::Mail(worker, Mail::Cancelled(asker)));
        }
    }

    /// Starts to cancel the query of a server connection. Until the request is delivered, the connection is not lent to another
    /// client. False if the query cannot be cancelled, because the server has given no key.
    pub(super) fn cancel_server(&mut self, key: ServerKey) -> bool {
        let Some(server) = self.servers.get_mut(key) else { return false };
        if server.secret.0.is_empty() {
            return false;
        }
        if server.cancel != Cancel::None {
            server.cancel = Cancel::Again;
            return true;
        }
        server.cancel = Cancel::UnderWay;
        if self.cancels.under_way >= self.directory.cancels_max {
            self.shared.count_limit_hit("cancel_requests_max");
            self.cancels.queued.push_back(key);
            return true;
        }
        self.send_cancel(key);
        true
    }

    fn send_cancel(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get(key) else { return };
        let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut) else {
            return;
        };
        local.counters.cancels += 1;
        let mut packet = Vec::new();
        let request = trunkline_wire::startup::CancelRequest {
            process_id: server.process_id,
            secret_key: &server.secret.0,
        };
        request.encode(&mut packet);
        let target = Arc::clone(&local.database.target);
        self.cancels.under_way += 1;
        self.actions.push_back(Action::Cancel(CancelTicket { server: key, target, packet }));
    }

    /// The shell has sent a cancel request. `delivered` is true if the server has closed the request's connection: then the
    /// request no longer hits anything.
    pub fn cancel_delivered(&mut self, key: ServerKey, delivered: bool) {
        self.finish_cancel(key, delivered);
        self.run_due_tasks();
    }

    fn finish_cancel(&mut self, key: ServerKey, delivered: bool) {
        self.cancels.under_way = self.cancels.under_way.saturating_sub(1);
        while let Some(next) = self.cancels.queued.pop_front() {
            if self.servers.get(next).is_some_and(|server| server.cancel != Cancel::None) {
                self.send_cancel(next);
                break;
            }
        }
        for (worker, asker) in self.cancels.askers.remove(&key).unwrap_or_default() {
            self.answer_cancel(worker, asker);
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        let again = std::mem::take(&mut server.cancel) == Cancel::Again;
        // A request that may still arrive could hit a later client of this connection.
        server.condemn_if(!delivered);
        if again && !server.turns.is_empty() {
            self.cancel_server(key);
            return;
        }
        if server.is_abandoned() && server.is_settled() {
            self.free_server(key);
        }
    }

    /// The server connection is gone: answers the clients that wait for its cancel request.
    pub(super) fn answer_cancels_of(&mut self, key: ServerKey) {
        for (worker, asker) in self.cancels.askers.remove(&key).unwrap_or_default() {
            self.answer_cancel(worker, asker);
        }
    }
}
