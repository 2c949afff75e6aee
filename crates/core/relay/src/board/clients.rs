//! Client connections are accepted, and end.

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
    /// A connection was accepted; `unix` says whether on a unix socket.
    ///
    /// # Errors
    /// There are too many connections, or the proxy shuts down. The bytes are the ErrorResponse to send before the shell
    /// closes the connection.
    pub fn client_accepted(&mut self, unix: bool) -> Result<ClientKey, Vec<u8>> {
        let refuse = |bound: &'static str, message: &'static str| {
            self.shared.count_limit_hit(bound);
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
        // More connections than the limit are accepted here, because some may be cancel requests. A login checks the limit.
        let clients = self.shared.clients.load(Relaxed);
        if self.directory.clients_max.is_some_and(|most| clients >= most.saturating_add(most / 16 + 8)) {
            return refuse("max_client_conn", "no more connections allowed (max_client_conn)");
        }
        self.shared.clients.fetch_add(1, Relaxed);
        self.shared.unauthenticated.fetch_add(1, Relaxed);
        self.shared.clients_by_worker[self.worker].fetch_add(1, Relaxed);
        let settings = if unix { &self.directory.login_unix } else { &self.directory.login_tcp };
        let machine = Login::new(Arc::clone(settings));
        let login =
            LoginState { machine, request: None, stored: None, look_up: None, waits_for_share: false };
        Ok(self.clients.insert(Box::new(Client::new(login, Arc::clone(&self.empty_profile), self.now))))
    }

    /// The client's connection is gone, or it has said good-bye.
    pub fn client_closed(&mut self, key: ClientKey) {
        self.remove_client(key);
        self.run_due_tasks();
    }

    /// The client said good-bye.
    pub(super) fn client_left(&mut self, key: ClientKey) {
        if self.remove_client(key).is_some() {
            self.actions.push_back(Action::CloseClient(key, Vec::new()));
        }
    }

    /// Closes a client. Its unsent bytes are written as far as its socket accepts them at once.
    pub(super) fn close_client(&mut self, key: ClientKey) {
        if let Some(client) = self.remove_client(key) {
            self.actions.push_back(Action::CloseClient(key, client.outbox.pending().to_vec()));
        }
    }

    fn remove_client(&mut self, key: ClientKey) -> Option<Box<Client>> {
        let client = self.clients.remove(key)?;
        self.shared.clients.fetch_sub(1, Relaxed);
        self.shared.clients_by_worker[self.worker].fetch_sub(1, Relaxed);
        if client.login.is_some() {
            self.shared.unauthenticated.fetch_sub(1, Relaxed);
        }
        if let Some(identity) = &client.identity {
            self.shared.cancel_keys.forget(identity.process_id, &identity.key);
        }
        let now = self.now;
        if let Some(local) = client.home_pool.and_then(|home| self.local_pool_mut(home)) {
            local.clients -= 1;
            local.last_used = now;
            local.pool.ledger().database.remove_client();
            local.pool.ledger().user.remove_client();
        }
        match client.stage {
            Stage::Waiting(_) => {
                if let Some(local) = client.pool.and_then(|pool| self.local_pool_mut(pool)) {
                    local.pool.leave_queue(key);
                } else if let Some(at) = self.waiting_for_permit.iter().position(|stranger| *stranger == key)
                {
                    self.waiting_for_permit.remove(at);
                }
            }
            Stage::Linked(server, _) => self.abandon_server(server, key, &client),
            Stage::Owed(server) => self.abandon_owed(server, key),
            _ => {}
        }
        Some(client)
    }

    /// The client that had this server connection is gone, perhaps in the middle of a turn. Ends what it has begun, so that
    /// the connection can be used again, or closes the connection.
    fn abandon_server(&mut self, key: crate::keys::ServerKey, client_key: ClientKey, client: &Client) {
        let now = self.now;
        let discards_all =
            self.directory.reset_query.trim_end_matches(';').trim().eq_ignore_ascii_case("discard all");
        let Some(server) = self.servers.get_mut(key) else { return };
        server.turns.disown(client_key);
        let may_cancel = !matches!(server.stage, ServerStage::Finishing);
        if may_cancel {
            server.stage = ServerStage::Abandoned;
        }
        // No client needs the values that its RESET brings back.
        server.resetting = None;
        server.last_change = now;
        if server.paused {
            server.paused = false;
            self.actions.push_back(Action::ResumeServer(key));
        }
        if client.resets.is_some() {
            // We no longer learn which parameters its RESET has changed.
            self.forget_unreported_parameters(key);
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        match client.pins.clean_up() {
            CleanUp::None => {}
            CleanUp::Discard if discards_all => server.mark_used(),
            CleanUp::Discard | CleanUp::Close => server.condemn_if(true),
        }
        let is_message_incomplete = client.rest.is_passed();
        // If other clients still get answers from this connection, no turn of it may be cancelled.
        let running = !server.turns.is_empty() && !server.turns.has_clients();
        if is_message_incomplete {
            // The server has got a part of a message, so no other message can be sent to it.
            if running {
                self.cancel_server(key);
            }
            return self.close_server(key);
        }
        Self::end_unfinished_turn(server);
        self.list_unsent_server(key);
        if running && may_cancel {
            self.cancel_server(key);
        }
        let settled = self.servers.get(key).is_some_and(|server| server.is_settled());
        if settled {
            self.free_server(key);
        }
    }

    /// Ends a COPY and a turn that their client has left unfinished. As on a direct connection that is closed, nothing of
    /// them is committed.
    pub(super) fn end_unfinished_turn(server: &mut crate::server::Server) {
        let push = |server: &mut crate::server::Server, expect| {
            server.turns.push(expect, Owner::Chore(Chore::Abandoned));
        };
        let copy_fail = CopyFail { message: b"the client has disconnected" };
        if server.copy.takes_data {
            server.copy.end_sent();
            copy_fail.encode(server.outbox.buffer());
        } else if server.turns.is_unsynced() && !server.turns.is_skipping() {
            if server.turns.may_run() {
                // If a COPY has begun, the server accepts no other message. If none has begun, the server ignores this one.
                copy_fail.encode(server.outbox.buffer());
                push(server, Expect::answer_locally(Message::CopyEnd, Undo::Nothing));
            }
            // A Sync alone would commit the turn. This Execute makes it fail, because there is no such portal.
            Execute { portal: b"of a client that has disconnected", max_rows: 0 }
                .encode(server.outbox.buffer());
            push(server, Expect::discard(Message::Execute, Undo::Nothing));
        }
        if server.turns.is_unsynced() {
            sync::encode(server.outbox.buffer());
            push(server, Expect::discard(Message::Sync, Undo::Nothing));
        }
    }

    /// Takes the bytes that the client has sent after its request for TLS. They belong to TLS.
    pub fn take_client_inbox(&mut self, key: ClientKey) -> Vec<u8> {
        self.clients
            .get_mut(key)
            .map(|client| std::mem::take(&mut client.inbox).into_vec())
            .unwrap_or_default()
    }
}
