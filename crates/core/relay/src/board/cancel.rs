//! Cancel requests: to exactly the query of the client that asked.

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
    /// A connection asks that a query of another be cancelled.
    pub(super) fn cancel_requested(&mut self, key: ClientKey, process_id: i32, secret: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Cancelling;
        client.since = self.now;
        match self.shared.cancel_keys.find(process_id, secret) {
            // A key that is nobody's (or no longer anybody's) is not worth a word.
            None => self.client_left(key),
            Some((worker, victim)) if worker == self.worker => self.cancel_client(victim, worker, key),
            Some((worker, victim)) => {
                let mail = Mail::Cancel(victim, self.worker, key);
                self.actions.push_back(Action::Mail(worker, mail));
            }
        }
    }

    /// Cancels what a client of this worker runs, for the client `asker` of worker `from`.
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
                let alone = self.is_alone(server, victim);
                if let (false, Some(server)) = (alone, self.servers.get_mut(server)) {
                    // The server would cancel whatever it runs when the request arrives, if only somebody else's turn.
                    server.turns.want_cancel(victim);
                    return self.answer_cancel(from, asker);
                }
                let runs = |server: &crate::server::Server| {
                    matches!(server.turns.owner(), Some(Owner::Client(_))) && !server.turns.is_settled()
                };
                if self.servers.get(server).is_some_and(runs) && self.cancel_server(server) {
                    self.cancels.waiting.entry(server).or_default().push((from, asker));
                    return;
                }
            }
            _ => {}
        }
        self.answer_cancel(from, asker);
    }

    /// Closes the connection that asked for a cancel: that is its answer.
    fn answer_cancel(&mut self, worker: usize, asker: ClientKey) {
        if worker == self.worker {
            self.due.push_back(Due::CancelAnswered(asker));
        } else {
            self.actions.push_back(Action::Mail(worker, Mail::Cancelled(asker)));
        }
    }

    /// Has the server connection's query cancelled. The connection is not lent to another client before the request
    /// has come and gone. False when that cannot be.
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
            self.shared.hit("cancel_requests_max");
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

    /// A cancel request was delivered (the server closed its connection), or could not be.
    pub fn cancel_delivered(&mut self, key: ServerKey, delivered: bool) {
        self.cancel_over(key, delivered);
        self.do_what_is_due();
    }

    fn cancel_over(&mut self, key: ServerKey, delivered: bool) {
        self.cancels.under_way = self.cancels.under_way.saturating_sub(1);
        while let Some(next) = self.cancels.queued.pop_front() {
            if self.servers.get(next).is_some_and(|server| server.cancel != Cancel::None) {
                self.send_cancel(next);
                break;
            }
        }
        for (worker, asker) in self.cancels.waiting.remove(&key).unwrap_or_default() {
            self.answer_cancel(worker, asker);
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        let again = std::mem::take(&mut server.cancel) == Cancel::Again;
        // A request that may still arrive would hit the client that has the connection then.
        server.condemn_if(!delivered);
        if again && !server.turns.is_empty() {
            self.cancel_server(key);
            return;
        }
        if server.is_abandoned() && server.is_settled() {
            self.free_server(key);
        }
    }

    /// The server connection is gone: nobody need wait for its cancel.
    pub(super) fn forget_cancels(&mut self, key: ServerKey) {
        for (worker, asker) in self.cancels.waiting.remove(&key).unwrap_or_default() {
            self.answer_cancel(worker, asker);
        }
    }
}
