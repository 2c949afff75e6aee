//! Clients that have passed their server connection on and still wait for answers from it.
//!
//! When a client has sent its turns completely, its connection can go to a waiting client, where that is allowed
//! ([`Directory::early_release`](crate::Directory::early_release)). From then on it answers several clients in the order of
//! their turns.

use trunkline_pool::PoolId;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::refusal::Refusal;
use super::{Action, Board};
use crate::client::{Client, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::{Cancel, Server};
use crate::turn::{Owner, Turn, give_first};

impl Board {
    /// Passes connections on to waiting clients of the pool, from clients that have sent all of their turns.
    pub(super) fn share_connections(&mut self, pool: PoolId) {
        if self.directory.early_release.is_none() {
            return;
        }
        while let Some(key) = self.shareable(pool) {
            let waiter = self.local_pool_mut(pool).and_then(|local| local.pool.take_waiter());
            let Some(waiter) = waiter else { return };
            self.give_early(key, waiter.client);
        }
    }

    /// A connection of the pool that can be given on, if one can and the first who waits wants it for a turn.
    fn shareable(&self, pool: PoolId) -> Option<ServerKey> {
        let first = self.local_pool(pool)?.pool.waiters().next()?.client;
        if !matches!(self.clients.get(first)?.stage, Stage::Waiting(Purpose::Turn)) {
            return None;
        }
        let lent = |server: &Server| server.lent_to().and_then(|client| self.clients.get(client));
        let mut servers = self.servers.iter().filter(|(_, server)| server.pool == pool);
        let of_turn = |client: &Client| matches!(client.stage, Stage::Linked(_, Purpose::Turn));
        let (key, _) =
            servers.find(|(key, server)| lent(server).is_some_and(of_turn) && self.can_be_shared(*key))?;
        Some(key)
    }

    /// Whether what its client has sent is whole, and reads or writes rows and no more: what others send after it finds the
    /// connection as it is now. One that is about to be closed is not lent again.
    fn can_be_shared(&self, key: ServerKey) -> bool {
        let Some(server) = self.servers.get(key) else { return false };
        let pinned =
            |client: ClientKey| self.clients.get(client).is_some_and(|client| !client.pins.is_empty());
        let pending = &server.pending;
        let knows = !pending.begins && !pending.beyond_rows && !pending.forgets && !pending.redefines;
        let quiet = server.status == TransactionStatus::Idle
            && server.cancel == Cancel::None
            && server.resetting.is_none()
            && !server.undecided
            && !server.awaits_shape
            && server.copy.is_over();
        // A client that has just got it has sent nothing yet.
        let has_sent = server.lent_to().is_some_and(|client| server.turns.has_of(client));
        let sent = has_sent && server.turns.last_is_sent() && server.turns.no_error_can_skip();
        let whole = sent && !server.turns.is_healing();
        knows && quiet && whole && !server.lent_to().is_some_and(pinned) && !self.is_outdated(key)
    }

    /// The client that has the connection only waits for its answers from now on; the next one gets the connection.
    fn give_early(&mut self, key: ServerKey, next: ClientKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(client) = server.lent_to().and_then(|client| self.clients.get_mut(client)) else { return };
        client.stage = Stage::Owed(key);
        let mut record = server.turns.forget_record();
        record.clear();
        server.replay_buffer = record;
        self.link(next, key, Purpose::Turn);
    }

    /// Call it when a client has all answers from a connection that another has by now.
    pub(super) fn owed_over(&mut self, key: ClientKey) {
        let now = self.now;
        let Some(client) = self.clients.get_mut(key) else { return };
        if !matches!(client.stage, Stage::Owed(_)) {
            return;
        }
        client.stage = Stage::Idle;
        client.since = now;
        client.turns_answered();
        self.list_client(key);
        self.deal_inbox(key);
        self.restrain_client(key);
    }

    /// The connection is lost: the client gets one error for each turn that is not answered.
    pub(super) fn fail_owed(&mut self, key: ClientKey, turns: usize, error: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.fail_turns(turns, error);
        client.held = false;
        self.owed_over(key);
    }

    /// A client that is owed answers has gone: they reach nobody. The turns of others go on.
    pub(super) fn abandon_owed(&mut self, key: ServerKey, client: ClientKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.turns.disown(client);
        if server.paused {
            // It was the one that did not read.
            server.paused = false;
            self.actions.push_back(Action::ResumeServer(key));
        }
    }

    /// All turns of one client are answered, and another has the connection.
    pub(super) fn next_owner(&mut self, key: ServerKey, before: Option<ClientKey>) {
        before.into_iter().for_each(|client| self.owed_over(client));
        self.cancel_wanted(key);
        self.give_to_first(key);
        let lent = self.servers.get(key).and_then(Server::lent_to);
        self.deal_undecided(key, lent);
    }

    /// Sends the answers that we give ourselves to the turn that is first now.
    pub(super) fn give_to_first(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(first) = server.turns.owner().and_then(Owner::client) else { return };
        if let Some(client) = self.clients.get_mut(first) {
            give_first(client, server);
            self.list_client(first);
        }
    }

    /// Another turn has come first: it is cancelled now if its client has asked for that.
    fn cancel_wanted(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get(key) else { return };
        let wanted = server.turns.first().filter(|turn| turn.cancel_wanted).and_then(Turn::client);
        if wanted.is_some_and(|client| self.is_alone(key, client)) {
            self.cancel_server(key);
        }
    }

    /// Whether the connection works for this client only: no turn of another stands there, and no other can send one.
    pub(super) fn is_alone(&self, key: ServerKey, client: ClientKey) -> bool {
        let Some(server) = self.servers.get(key) else { return true };
        let first = server.turns.owner().and_then(Owner::client);
        let lent = server.lent_to().filter(|_| first.is_some());
        !server.turns.is_shared() && [first, lent].into_iter().flatten().all(|key| key == client)
    }

    /// A client reads too slowly while others wait for answers that come after its own.
    pub(super) fn cut_off_slow(&mut self, key: ServerKey) {
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
