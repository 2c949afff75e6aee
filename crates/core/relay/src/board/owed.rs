//! Early release: clients that have passed on their server connection and still wait for its answers.
//!
//! If [`Directory::early_release`](crate::Directory::early_release) allows it, a client that has sent its turns completely
//! passes its server connection on to a waiting client before all answers have come. The server then answers several clients,
//! in the order of their turns.

use trunkline_pool::PoolId;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::refusal::Refusal;
use super::{Action, Board};
use crate::client::{Client, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::{Cancel, Server};
use crate::turn::{Owner, Turn, send_local_answers};

impl Board {
    /// Passes connections from clients that have sent their turns completely to waiting clients of the pool.
    pub(super) fn share_connections(&mut self, pool: PoolId) {
        if self.directory.early_release.is_none() {
            return;
        }
        while let Some(key) = self.find_shareable_server(pool) {
            let waiter = self.local_pool_mut(pool).and_then(|local| local.pool.pop_waiter());
            let Some(waiter) = waiter else { return };
            self.lend_early(key, waiter.client);
        }
    }

    /// A connection of the pool that can be passed on. `None` if there is none, or if the first waiting client does not want it
    /// for a turn.
    fn find_shareable_server(&self, pool: PoolId) -> Option<ServerKey> {
        let first = self.local_pool(pool)?.pool.waiters().next()?.client;
        if !matches!(self.clients.get(first)?.stage, Stage::Waiting(Purpose::Turn)) {
            return None;
        }
        let lent = |server: &Server| server.lent_to().and_then(|client| self.clients.get(client));
        let mut servers = self.servers.iter().filter(|(_, server)| server.pool == pool);
        let runs_turn = |client: &Client| matches!(client.stage, Stage::Linked(_, Purpose::Turn));
        let (key, _) =
            servers.find(|(key, server)| lent(server).is_some_and(runs_turn) && self.can_be_shared(*key))?;
        Some(key)
    }

    /// Whether a connection can be passed on: its client has sent its turns completely, and they only read or write rows, so
    /// the next client finds the connection as it is now. A connection that will be closed is not passed on.
    fn can_be_shared(&self, key: ServerKey) -> bool {
        let Some(server) = self.servers.get(key) else { return false };
        let pinned =
            |client: ClientKey| self.clients.get(client).is_some_and(|client| !client.pins.is_empty());
        let pending = &server.pending;
        let changes_nothing =
            !pending.begins && !pending.not_only_rows && !pending.may_deallocate && !pending.redefines;
        let waits_for_nothing = server.status == TransactionStatus::Idle
            && server.cancel == Cancel::None
            && server.resetting.is_none()
            && !server.awaits_answers
            && !server.awaits_shape
            && server.copy.is_over();
        // A client that has just got the connection has sent nothing yet.
        let has_sent = server.lent_to().is_some_and(|client| server.turns.has_turn_of(client));
        let sent = has_sent && server.turns.last_is_sent() && server.turns.no_error_can_skip();
        let is_complete = sent && !server.turns.is_healing();
        let is_pinned = server.lent_to().is_some_and(pinned);
        changes_nothing && waits_for_nothing && is_complete && !is_pinned && !self.is_outdated(key)
    }

    /// Lends the connection to the client `next`. The client that has had it only waits for its answers from now on.
    fn lend_early(&mut self, key: ServerKey, next: ClientKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(client) = server.lent_to().and_then(|client| self.clients.get_mut(client)) else { return };
        client.stage = Stage::Owed(key);
        let mut record = server.turns.forget_record();
        record.clear();
        server.replay_buffer = record;
        self.link(next, key, Purpose::Turn);
    }

    /// A client has got all its answers from a connection that it had passed on. It is idle again.
    pub(super) fn finish_owed(&mut self, key: ClientKey) {
        let now = self.now;
        let Some(client) = self.clients.get_mut(key) else { return };
        if !matches!(client.stage, Stage::Owed(_)) {
            return;
        }
        client.stage = Stage::Idle;
        client.last_active = now;
        client.turns_answered();
        self.list_unsent_client(key);
        self.schedule_inbox(key);
        self.update_client_pause(key);
    }

    /// A connection is lost that this client had passed on: the client gets an error for each of its unanswered turns.
    pub(super) fn fail_owed_client(&mut self, key: ClientKey, turns: usize, error: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.fail_turns(turns, error);
        client.output_held = false;
        self.finish_owed(key);
    }

    /// A client that still waited for answers is gone. Its answers are dropped; the turns of other clients continue.
    pub(super) fn abandon_owed(&mut self, key: ServerKey, client: ClientKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.turns.disown(client);
        if server.paused {
            // It was the one that did not read.
            server.paused = false;
            self.actions.push_back(Action::ResumeServer(key));
        }
    }

    /// All turns of the client `before` on this connection are answered. A turn of another client may be the first one now.
    pub(super) fn next_turn_comes_first(&mut self, key: ServerKey, before: Option<ClientKey>) {
        before.into_iter().for_each(|client| self.finish_owed(client));
        self.send_wanted_cancel(key);
        self.send_local_answers_to_first(key);
        let lent = self.servers.get(key).and_then(Server::lent_to);
        self.resume_after_answers(key, lent);
    }

    /// Sends the answers that we make ourselves for the turn that is the first one now.
    pub(super) fn send_local_answers_to_first(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(first) = server.turns.owner().and_then(Owner::client) else { return };
        if let Some(client) = self.clients.get_mut(first) {
            send_local_answers(client, server);
            self.list_unsent_client(first);
        }
    }

    /// Another turn is the first one now. Cancels it if its client has asked for that and no other client's turn can be hit.
    fn send_wanted_cancel(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get(key) else { return };
        let wanted = server.turns.first().filter(|turn| turn.cancel_wanted).and_then(Turn::client);
        if wanted.is_some_and(|client| self.serves_only(key, client)) {
            self.cancel_server(key);
        }
    }

    /// Whether the connection serves only this client: no other client has a turn on it or can send one.
    pub(super) fn serves_only(&self, key: ServerKey, client: ClientKey) -> bool {
        let Some(server) = self.servers.get(key) else { return true };
        let first = server.turns.owner().and_then(Owner::client);
        let lent = server.lent_to().filter(|_| first.is_some());
        !server.turns.is_shared() && [first, lent].into_iter().flatten().all(|key| key == client)
    }

    /// Disconnects the client of the first turn if it reads too slowly: other clients wait for answers behind its answers.
    pub(super) fn disconnect_slow_client(&mut self, key: ServerKey) {
        let Some(early) = &self.directory.early_release else { return };
        let buffered_bytes_max = early.buffered_bytes_max;
        let Some(server) = self.servers.get(key) else { return };
        let Some(slow) = server.turns.owner().and_then(Owner::client) else { return };
        let unsent = self.clients.get(slow).map_or(0, |client| client.outbox.pending().len());
        if unsent > buffered_bytes_max {
            let text = "the answer was read too slowly on a shared server connection";
            self.refuse(slow, &Refusal::new(SqlState::CONNECTION_FAILURE, text));
        }
    }
}
