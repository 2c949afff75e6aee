//! Server connections are opened, closed and lost.

use std::sync::Arc;

use trunkline_pool::PoolId;
use trunkline_session::frontend::{Credential, Login, LoginError, LoginEvent, ServerReady, TlsWish};
use trunkline_wire::backend::{ErrorResponse, TransactionStatus};
use trunkline_wire::frame::HEADER_BYTES;
use trunkline_wire::frontend::terminate;
use trunkline_wire::sqlstate::SqlState;

use super::kept::due::Due;
use super::refusal::Refusal;
use super::{Action, Board};
use crate::carried::parameters::{Profile, can_be_set};
use crate::client::{AfterError, Purpose, Stage};
use crate::directory::TlsWay;
use crate::keys::{ClientKey, ServerKey};
use crate::server::{BackendSecret, Opening, Reached, Server, ServerStage};
use crate::shorten_name;
use crate::turn::{Chore, LostTurns, undo_lost};
use crate::welcome::Welcome;

/// The message and code of a whole ErrorResponse (with its header), for the log.
pub(super) fn error_text(frame: &[u8]) -> String {
    let body = frame.get(HEADER_BYTES..).unwrap_or_default();
    let Ok(error) = ErrorResponse::decode(body) else { return "an unreadable error".to_owned() };
    let code = error.code();
    let code = code.as_ref().map_or("no SQLSTATE", SqlState::as_str);
    format!("{} ({code})", String::from_utf8_lossy(error.message()))
}

/// The body of a whole ErrorResponse.
pub(super) fn body_of(frame: &[u8]) -> &[u8] {
    frame.get(HEADER_BYTES..).unwrap_or_default()
}

/// The same ErrorResponse with severity FATAL, because the client will be closed.
pub(super) fn as_fatal(frame: &[u8]) -> Vec<u8> {
    with_severity(frame.get(HEADER_BYTES..).unwrap_or_default(), true)
}

/// An ErrorResponse with the same body, except its severity (FATAL or ERROR).
fn with_severity(body: &[u8], fatal: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let Ok(error) = ErrorResponse::decode(body) else {
        Refusal::new(SqlState::CONNECTION_FAILURE, "the server sent an unreadable error")
            .encode(fatal, &mut out);
        return out;
    };
    let message = String::from_utf8_lossy(error.message()).into_owned();
    let code = error.code().unwrap_or(SqlState::CONNECTION_FAILURE);
    let mut report = match fatal {
        true => ErrorResponse::fatal(code, message),
        false => ErrorResponse::error(code, message),
    };
    for (kind, value) in error.iter().filter(|(kind, _)| !matches!(kind, b'S' | b'V' | b'C' | b'M')) {
        report = report.field(kind, String::from_utf8_lossy(value).into_owned());
    }
    report.encode(&mut out);
    out
}

impl Board {
    /// Opens a connection that the pool has counted already.
    pub(super) fn open_server(&mut self, pool: PoolId) {
        let way = self.local_pool(pool).map(|local| local.tls_way).unwrap_or_default();
        self.open_server_by(pool, way, false);
    }

    fn open_server_by(&mut self, pool: PoolId, way: TlsWay, last_try: bool) {
        let Some(local) = self.local_pools.get(pool).and_then(Option::as_deref) else { return };
        let login = local.server_login(&self.directory, way);
        let login = Login::new(Arc::new(login), &mut *self.entropy);
        let target = Arc::clone(&local.database.target);
        let opening = Opening { login, reached: Reached::NotConnected, way, last_try };
        let server = Server::new(opening, pool, local.epoch, Arc::clone(&self.empty_profile), self.now);
        let key = self.servers.insert(Box::new(server));
        self.actions.push_back(Action::Connect(key, target));
    }

    /// Whether the connection to the server is not established yet.
    #[must_use]
    pub fn is_dialling(&self, key: ServerKey) -> bool {
        let opening = self.servers.get(key).and_then(|server| server.opening());
        opening.is_some_and(|opening| opening.reached == Reached::NotConnected)
    }

    /// The connection to the server is established.
    pub fn server_connected(&mut self, key: ServerKey) {
        if let Some(ServerStage::Login(opening)) = self.servers.get_mut(key).map(|server| &mut server.stage) {
            opening.reached = Reached::Connected;
        }
        self.advance_login(key, |login, out| login.handle_connected(out).map(|()| 0));
        self.run_due_tasks();
    }

    /// TLS with a server is established; `binding` is its channel binding data `tls-server-end-point`.
    pub fn server_tls_started(&mut self, key: ServerKey, binding: Option<Vec<u8>>) {
        if let Some(server) = self.servers.get_mut(key) {
            server.paused = false;
        }
        self.actions.push_back(Action::ResumeServer(key));
        self.advance_login(key, |login, out| login.tls_started(binding, out).map(|()| 0));
        self.run_due_tasks();
    }

    pub(super) fn server_login_bytes(&mut self, key: ServerKey, input: &[u8]) -> (usize, bool) {
        if self.servers.get(key).is_none_or(|server| server.paused) {
            return (0, false);
        }
        let consumed = self.advance_login(key, |login, out| login.handle_bytes(input, out));
        (consumed, consumed > 0 && consumed < input.len())
    }

    fn advance_login(
        &mut self,
        key: ServerKey,
        step: impl FnOnce(&mut Login, &mut Vec<u8>) -> Result<usize, LoginError>,
    ) -> usize {
        let Some(server) = self.servers.get_mut(key) else { return 0 };
        let ServerStage::Login(opening) = &mut server.stage else { return 0 };
        let login = &mut opening.login;
        let (consumed, event) = match step(login, server.outbox.buffer()) {
            Ok(consumed) => (consumed, login.poll()),
            Err(error) => {
                self.fail_login(key, &error);
                return 0;
            }
        };
        self.list_unsent_server(key);
        match event {
            None => {}
            Some(LoginEvent::StartTls) => {
                let Some(server) = self.servers.get_mut(key) else { return consumed };
                server.paused = true;
                if let ServerStage::Login(opening) = &mut server.stage {
                    opening.reached = Reached::TlsBegun;
                }
                let Some(Some(local)) = self.local_pools.get(server.pool) else { return consumed };
                self.actions.push_back(Action::ServerTls(key, Arc::clone(&local.database.target)));
            }
            Some(LoginEvent::Ready(ready)) => self.server_ready(key, *ready),
        }
        consumed
    }

    fn fail_login(&mut self, key: ServerKey, error: &LoginError) {
        let body = match error {
            LoginError::Refused(refusal) => match refusal.response() {
                Some(response) => {
                    let mut frame = Vec::new();
                    response.encode(&mut frame);
                    frame.split_off(HEADER_BYTES.min(frame.len()))
                }
                None => Self::connection_failure_body(&error.to_string()),
            },
            other => {
                Self::connection_failure_body(&format!("the proxy cannot log in to the server: {other}"))
            }
        };
        self.server_lost(key, &body);
    }

    fn server_ready(&mut self, key: ServerKey, ready: ServerReady) {
        let tracked: Vec<_> = ready.parameters.iter().filter(|(name, _)| can_be_set(name)).cloned().collect();
        let mut base = Profile::default();
        tracked.iter().for_each(|(name, value)| base.set(name, value));
        let base = self.profiles.intern(base);
        let now = self.now;
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut) else {
            return;
        };
        local.counters.opened += 1;
        local.last_error.clear();
        local.tls_way = server.opening().map_or(local.tls_way, |opening| opening.way);
        if let (Credential::Password { cached, .. }, Some(keys)) = (&mut local.credential, ready.scram_keys) {
            *cached = Some(keys);
        }
        let defaults = Arc::clone(&base);
        server.welcome =
            Some(Arc::new(Welcome { parameters: ready.parameters, base: Arc::clone(&base), defaults }));
        server.profile = base;
        server.process_id = ready.process_id;
        server.secret = BackendSecret(ready.secret_key.into());
        server.status = ready.status;
        server.opened = now;
        server.last_change = now;
        server.stage = ServerStage::Chore(Chore::Connect);
        let query = local.database.connect_query.clone().filter(|query| !query.is_empty());
        match query {
            Some(query) => self.start_query(key, &query, Chore::Connect),
            None => self.server_opened(key),
        }
    }

    /// The connection is ready for clients. Until now it counted as being opened, so no second one was opened for the same
    /// waiting client.
    pub(super) fn server_opened(&mut self, key: ServerKey) {
        let Some(pool) = self.servers.get(key).map(|server| server.pool) else { return };
        if let Some(local) = self.local_pool_mut(pool) {
            local.pool.opened();
        }
        self.update_welcome(key);
        self.free_server(key);
    }

    /// The body of an ErrorResponse that we make when a server connection is lost or cannot be opened.
    pub(super) fn connection_failure_body(text: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        ErrorResponse::fatal(SqlState::CONNECTION_FAILURE, text).encode(&mut frame);
        frame.split_off(HEADER_BYTES)
    }

    /// The connection to the server is lost, or could not be established; `why` says the reason to people.
    pub fn server_closed(&mut self, key: ServerKey, why: &str) {
        self.server_lost(key, &Self::connection_failure_body(why));
        self.run_due_tasks();
    }

    /// A server connection is lost, or could not be opened; `body` is the body of the ErrorResponse that says why.
    pub(super) fn server_lost(&mut self, key: ServerKey, body: &[u8]) {
        let Some(mut server) = self.servers.remove(key) else { return };
        self.actions.push_back(Action::CloseServer(key, Vec::new()));
        self.answer_cancels_of(key);
        let now = self.now;
        let pool = server.pool;
        let Some(local) = self.local_pools.get_mut(pool).and_then(Option::as_deref_mut) else { return };
        let stage = std::mem::replace(&mut server.stage, ServerStage::Abandoned);
        let target = &local.database.target;
        if let ServerStage::Login(opening) = &stage {
            let tls_was_tried = match opening.reached {
                Reached::NotConnected => false,
                Reached::Connected => target.tls == TlsWish::Never,
                Reached::TlsBegun => true,
            };
            if tls_was_tried && !opening.last_try && target.second_try.is_some() {
                // We try again, with or without TLS. The connection still counts as being opened.
                let other = opening.way.other();
                return self.open_server_by(pool, other, true);
            }
        }
        let failed = match stage {
            ServerStage::Login(_) | ServerStage::Chore(Chore::Connect) => {
                local.counters.open_failed += 1;
                local.last_error = with_severity(body, true);
                let why = error_text(&local.last_error);
                let (name, user) = (shorten_name(&local.name), shorten_name(&local.user));
                let (kind, what) = match stage {
                    ServerStage::Login(_) => ("server_login", "cannot log in to"),
                    _ => ("connect_query", "no server connection for"),
                };
                let failed = local.pool.open_failed(now);
                let text = format!("{what} database \"{name}\" as \"{user}\": {why}");
                self.warn(kind, text);
                failed
            }
            ServerStage::Idle => {
                local.pool.remove_idle(key);
                local.pool.server_lost();
                Vec::new()
            }
            _ => {
                local.counters.lost += 1;
                local.pool.server_lost();
                let (name, user) = (shorten_name(&local.name), shorten_name(&local.user));
                let why = error_text(&with_severity(body, true));
                let text = format!("a server connection of database \"{name}\" as \"{user}\" is lost: {why}");
                self.warn("server_lost", text);
                Vec::new()
            }
        };
        for waiter in failed {
            let purpose = match self.clients.get(waiter.client).map(|client| &client.stage) {
                Some(Stage::Waiting(purpose)) => *purpose,
                _ => continue,
            };
            self.fail_waiter(waiter.client, pool, purpose);
        }
        let lent = match stage {
            ServerStage::Lent(client) => Some(client),
            _ => None,
        };
        self.fail_turns(lent, server, body);
        self.serve_vacancy(pool);
    }

    /// Sends an error to a client that waits for a server connection, because the pool's server cannot be reached.
    pub(super) fn fail_waiter(&mut self, key: ClientKey, pool: PoolId, purpose: Purpose) {
        let Some(local) = self.local_pool(pool) else { return };
        let error = match local.last_error.is_empty() {
            true => with_severity(&Self::connection_failure_body("the server cannot be reached"), true),
            false => local.last_error.clone(),
        };
        if purpose == Purpose::Turn {
            let error = with_severity(error.get(HEADER_BYTES..).unwrap_or_default(), false);
            return self.fail_turn(key, &error);
        }
        if purpose == Purpose::AuthQuery {
            return self.look_up_failed(key, &error);
        }
        if let Some(client) = self.clients.get_mut(key) {
            client.outbox.push(&error);
        }
        self.logins_failed += 1;
        self.close_client(key);
    }

    /// A server connection is lost: fails the turns of the client that it was lent to (`lent`), and of clients that still
    /// waited for answers from it.
    pub(super) fn fail_turns(&mut self, lent: Option<ClientKey>, mut server: Box<Server>, body: &[u8]) {
        // The client that has got only a part of a message: no error can follow, so it is closed.
        let cut_off = server.next_receiver().filter(|_| server.rest.is_passed());
        let can_continue = lent.is_some_and(|lent| self.can_continue(lent, &server));
        server.release_copy_syncs();
        let lost = undo_lost(&mut self.clients, &mut server);
        let error = with_severity(body, false);
        let mut owners: Vec<ClientKey> = lost.owners.iter().filter_map(|owner| owner.client()).collect();
        let turns = |key: ClientKey| lost.owners.iter().filter(|owner| owner.client() == Some(key)).count();
        owners.dedup();
        for key in owners.into_iter().filter(|owner| Some(*owner) != lent) {
            match cut_off == Some(key) {
                true => self.close_client(key),
                false => self.fail_owed_client(key, turns(key), &error),
            }
        }
        let Some(key) = lent else { return };
        let Some(client) = self.clients.get_mut(key) else { return };
        match client.stage {
            Stage::Linked(_, Purpose::AuthQuery) => {
                let why = error_text(&error);
                self.warn("auth_query", format!("the server connection was lost during auth_query: {why}"));
                self.refuse_look_up(key);
            }
            Stage::Linked(..) if !can_continue || cut_off == Some(key) => {
                if cut_off != Some(key) {
                    client.outbox.push(&with_severity(body, true));
                }
                self.close_client(key);
            }
            Stage::Linked(..) => self.fail_lent_client(key, turns(key), &server, &lost, &error),
            _ => {}
        }
    }

    /// Whether a client can continue after the loss of the server connection that was lent to it.
    fn can_continue(&self, key: ClientKey, server: &Server) -> bool {
        let Some(client) = self.clients.get(key) else { return false };
        // If a BEGIN was lost, the messages after it must not be run outside a transaction.
        let turns = server.turns.turns_of_client()
            + usize::from(server.turns.is_unsynced())
            + usize::from(!client.inbox.is_empty());
        let in_transaction = server.status != TransactionStatus::Idle || (server.pending.begins && turns > 1);
        matches!(client.stage, Stage::Linked(_, Purpose::Turn)) && !in_transaction && client.pins.is_empty()
    }

    /// The server connection that was lent to a client is lost, and the client can continue: `turns` of its turns get the error.
    fn fail_lent_client(
        &mut self,
        key: ClientKey,
        turns: usize,
        server: &Server,
        lost: &LostTurns,
        error: &[u8],
    ) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.fail_turns(turns, error);
        let skipping = server.turns.is_skipping();
        if server.turns.is_unsynced() || lost.unended {
            // The client's last turn has no Sync yet: the client gets the error now, unless this turn has got one already.
            if !skipping {
                client.outbox.push(error);
            }
            // If all messages of that turn were answered, the error counts for the client's next messages up to a Sync.
            client.after_error =
                if skipping || lost.unended { AfterError::SkipToSync } else { AfterError::SkipNextTurn };
        }
        client.rest.discard();
        client.stage = Stage::Idle;
        client.output_held = false;
        client.resets = None;
        client.turns_answered();
        self.list_unsent_client(key);
        self.schedule_inbox(key);
        self.update_client_pause(key);
    }

    /// Closes a server connection, which must be on no list. Then serves clients that can use its place.
    pub(super) fn close_server(&mut self, key: ServerKey) {
        if let Some(pool) = self.close_without_serving(key) {
            self.serve_vacancy(pool);
        }
    }

    /// Closes a server connection without serving other clients: the caller must do that. Returns the connection's pool.
    pub(super) fn close_without_serving(&mut self, key: ServerKey) -> Option<PoolId> {
        let mut server = self.servers.remove(key)?;
        let last_bytes = if server.turns.is_empty() { terminate::FRAME.to_vec() } else { Vec::new() };
        self.actions.push_back(Action::CloseServer(key, last_bytes));
        self.answer_cancels_of(key);
        let home = server.pool;
        let pool = &mut self.local_pool_mut(home)?.pool;
        match server.stage {
            ServerStage::Login(_) | ServerStage::Chore(Chore::Connect) => pool.open_cancelled(),
            _ => pool.server_lost(),
        }
        server.stage = ServerStage::Abandoned;
        if server.turns.has_clients() {
            self.due.push_back(Due::FailTurns(server));
        }
        Some(home)
    }
}
