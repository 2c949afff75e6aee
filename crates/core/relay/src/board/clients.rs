//! Clients come and go.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use trunkline_session::backend::Login;
use trunkline_wire::frontend::{CopyFail, Execute, sync};
use trunkline_wire::sqlstate::SqlState;

use super::refusal::Refusal;
use super::{Action, Board};
use crate::carried::CleanUp;
use crate::client::{Client, LoginState, Stage};
use crate::keys::ClientKey;
use crate::server::ServerStage;
use crate::turn::{Chore, Expect, Message, Owner, Undo};

impl Board {
    /// A connection was accepted. `None` when there are too many: tell it what is given and close it.
    ///
    /// # Errors
    /// The ErrorResponse to send before closing.
    pub fn client_accepted(&mut self, unix: bool) -> Result<ClientKey, Vec<u8>> {
        let refuse = |bound: &'static str, message: &'static str| {
            self.shared.hit(bound);
            let mut out = Vec::new();
            Refusal::new(SqlState::TOO_MANY_CONNECTIONS, message).encode(true, &mut out);
            Err(out)
        };
        if self.shutdown.is_some() {
            let mut out = Vec::new();
            Refusal::new(SqlState::CANNOT_CONNECT_NOW, "the proxy is shutting down").encode(true, &mut out);
            return Err(out);
        }
        let unauthenticated = self.shared.unauthenticated.load(Relaxed);
        if self.directory.unauthenticated_max.is_some_and(|most| unauthenticated >= most) {
            return refuse("unauthenticated_conn_max", "too many connections that have not logged in yet");
        }
        // Cancel requests come on connections of their own: some room stays for them above the limit.
        let clients = self.shared.clients.load(Relaxed);
        if self.directory.clients_max.is_some_and(|most| clients >= most.saturating_add(most / 16 + 8)) {
            return refuse("max_client_conn", "no more connections allowed (max_client_conn)");
        }
        self.shared.clients.fetch_add(1, Relaxed);
        self.shared.unauthenticated.fetch_add(1, Relaxed);
        self.shared.seats[self.worker].fetch_add(1, Relaxed);
        let settings = if unix { &self.directory.login_unix } else { &self.directory.login_tcp };
        let machine = Login::new(Arc::clone(settings));
        let login = LoginState { machine, request: None, stored: None, look_up: None, in_line: false };
        Ok(self.clients.insert(Box::new(Client::new(login, Arc::clone(&self.blank), self.now))))
    }

    /// The client's connection is gone, or it has said good-bye.
    pub fn client_closed(&mut self, key: ClientKey) {
        self.take_client_out(key);
        self.do_what_is_due();
    }

    /// The client said good-bye.
    pub(super) fn client_left(&mut self, key: ClientKey) {
        if self.take_client_out(key).is_some() {
            self.actions.push_back(Action::CloseClient(key, Vec::new()));
        }
    }

    /// We are done with the client: what is pending is still written, as far as it can be.
    pub(super) fn close_client(&mut self, key: ClientKey) {
        if let Some(client) = self.take_client_out(key) {
            self.actions.push_back(Action::CloseClient(key, client.outbox.pending().to_vec()));
        }
    }

    fn take_client_out(&mut self, key: ClientKey) -> Option<Box<Client>> {
        let client = self.clients.remove(key)?;
        self.shared.clients.fetch_sub(1, Relaxed);
        self.shared.seats[self.worker].fetch_sub(1, Relaxed);
        if client.login.is_some() {
            self.shared.unauthenticated.fetch_sub(1, Relaxed);
        }
        if let Some(identity) = &client.identity {
            self.shared.cancel_keys.forget(identity.process_id, &identity.key);
        }
        let now = self.now;
        if let Some(local) = client.home_pool.and_then(|home| self.local_pool_mut(home)) {
            local.clients -= 1;
            local.used = now;
            local.pool.ledger().database.give_client();
            local.pool.ledger().user.give_client();
        }
        match client.stage {
            Stage::Waiting(_) => {
                if let Some(local) = client.pool.and_then(|pool| self.local_pool_mut(pool)) {
                    local.pool.leave_queue(key);
                } else if let Some(at) = self.strangers.iter().position(|stranger| *stranger == key) {
                    self.strangers.remove(at);
                }
            }
            Stage::Linked(server, _) => self.abandon(server, key, &client),
            Stage::Owed(server) => self.abandon_owed(server, key),
            _ => {}
        }
        Some(client)
    }

    /// The client of this server connection is gone in the middle of something: the connection is brought back to
    /// a clean state, or closed.
    fn abandon(&mut self, key: crate::keys::ServerKey, client_key: ClientKey, client: &Client) {
        let now = self.now;
        let discards_all =
            self.directory.reset_query.trim_end_matches(';').trim().eq_ignore_ascii_case("discard all");
        let Some(server) = self.servers.get_mut(key) else { return };
        server.turns.disown(client_key);
        let hurry = !matches!(server.stage, ServerStage::Finishing);
        if hurry {
            server.stage = ServerStage::Abandoned;
        }
        // What its RESET brings back is nobody's to be told of.
        server.resetting = None;
        server.since = now;
        if server.paused {
            server.paused = false;
            self.actions.push_back(Action::ResumeServer(key));
        }
        if client.resets.is_some() {
            // Answered or not: what it was to bring back is known of no more.
            self.parameters_unknown(key);
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        match client.pins.clean_up() {
            CleanUp::None => {}
            CleanUp::Discard if discards_all => server.wear_out(),
            CleanUp::Discard | CleanUp::Close => server.condemn_if(true),
        }
        let torn = client.rest.is_passed();
        // Others that are owed answers here get them.
        let running = !server.turns.is_empty() && !server.turns.has_clients();
        if torn {
            // Half a message is on its way to the server: nothing can follow it.
            if running {
                self.cancel_server(key);
            }
            return self.close_server(key);
        }
        Self::end_abandoned(server);
        self.list_server(key);
        if running && hurry {
            self.cancel_server(key);
        }
        let settled = self.servers.get(key).is_some_and(|server| server.is_settled());
        if settled {
            self.free_server(key);
        }
    }

    /// Sends what ends a COPY and a turn that their client can no longer end, as the end of its connection would: nothing of
    /// it is committed.
    pub(super) fn end_abandoned(server: &mut crate::server::Server) {
        let push = |server: &mut crate::server::Server, expect| {
            server.turns.push(expect, Owner::Chore(Chore::Abandoned));
        };
        let copy_fail = CopyFail { message: b"the client has disconnected" };
        if server.copy.takes_data {
            server.copy.end_sent();
            copy_fail.encode(server.outbox.buffer());
        } else if server.turns.is_unsynced() && !server.turns.is_skipping() {
            if server.turns.may_run() {
                // In a COPY nothing else may come. Where none has begun it is ignored.
                copy_fail.encode(server.outbox.buffer());
                push(server, Expect::give(Message::CopyEnd, Undo::Nothing));
            }
            // A Sync alone would commit: this makes the turn fail, for there is no such portal.
            Execute { portal: b"of a client that has disconnected", max_rows: 0 }
                .encode(server.outbox.buffer());
            push(server, Expect::skip(Message::Execute, Undo::Nothing));
        }
        if server.turns.is_unsynced() {
            sync::encode(server.outbox.buffer());
            push(server, Expect::skip(Message::Sync, Undo::Nothing));
        }
    }

    /// Takes what the client sent after its request for TLS: it belongs to TLS.
    pub fn take_client_inbox(&mut self, key: ClientKey) -> Vec<u8> {
        self.clients
            .get_mut(key)
            .map(|client| std::mem::take(&mut client.inbox).into_vec())
            .unwrap_or_default()
    }
}
