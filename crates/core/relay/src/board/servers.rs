//! Server connections come and go.

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
use crate::carried::parameters::{Profile, follows};
use crate::client::{AfterError, Purpose, Stage};
use crate::directory::TlsWay;
use crate::in_short;
use crate::keys::{ClientKey, ServerKey};
use crate::server::{BackendSecret, Opening, Reached, Server, ServerStage};
use crate::turn::{Chore, LostTurns, undo_lost};
use crate::welcome::Welcome;

/// A whole ErrorResponse's message and code in one line, for the log.
pub(super) fn error_text(frame: &[u8]) -> String {
    let body = frame.get(HEADER_BYTES..).unwrap_or_default();
    let Ok(error) = ErrorResponse::decode(body) else { return "an unreadable error".to_owned() };
    let code = error.code();
    let code = code.as_ref().map_or("no SQLSTATE", SqlState::as_str);
    format!("{} ({code})", String::from_utf8_lossy(error.message()))
}

/// A whole ErrorResponse's body.
pub(super) fn body_of(frame: &[u8]) -> &[u8] {
    frame.get(HEADER_BYTES..).unwrap_or_default()
}

/// The same ErrorResponse with severity FATAL: it ends the client's connection.
pub(super) fn as_fatal(frame: &[u8]) -> Vec<u8> {
    with_severity(frame.get(HEADER_BYTES..).unwrap_or_default(), true)
}

/// An ErrorResponse of that body with another severity.
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
    /// Opens a connection that is counted already.
    pub(super) fn open_server(&mut self, pool: PoolId) {
        let way = self.local_pool(pool).map(|local| local.tls_way).unwrap_or_default();
        self.open_server_by(pool, way, false);
    }

    fn open_server_by(&mut self, pool: PoolId, way: TlsWay, last_try: bool) {
        let Some(local) = self.local_pools.get(pool).and_then(Option::as_deref) else { return };
        let login = local.server_login(&self.directory, way);
        let login = Login::new(Arc::new(login), &mut *self.entropy);
        let target = Arc::clone(&local.database.target);
        let opening = Opening { login, reached: Reached::Nothing, way, last_try };
        let server = Server::new(opening, pool, local.epoch, Arc::clone(&self.blank), self.now);
        let key = self.servers.insert(Box::new(server));
        self.actions.push_back(Action::Connect(key, target));
    }

    /// Whether the connection is not established yet.
    #[must_use]
    pub fn is_dialling(&self, key: ServerKey) -> bool {
        let opening = self.servers.get(key).and_then(|server| server.opening());
        opening.is_some_and(|opening| opening.reached == Reached::Nothing)
    }

    /// The connection is established.
    pub fn server_connected(&mut self, key: ServerKey) {
        if let Some(ServerStage::Login(opening)) = self.servers.get_mut(key).map(|server| &mut server.stage) {
            opening.reached = Reached::Server;
        }
        self.with_login(key, |login, out| login.handle_connected(out).map(|()| 0));
        self.do_what_is_due();
    }

    /// TLS with a server is established; `binding`: its `tls-server-end-point`.
    pub fn server_tls_started(&mut self, key: ServerKey, binding: Option<Vec<u8>>) {
        if let Some(server) = self.servers.get_mut(key) {
            server.paused = false;
        }
        self.actions.push_back(Action::ResumeServer(key));
        self.with_login(key, |login, out| login.tls_started(binding, out).map(|()| 0));
        self.do_what_is_due();
    }

    pub(super) fn server_login_bytes(&mut self, key: ServerKey, input: &[u8]) -> (usize, bool) {
        if self.servers.get(key).is_none_or(|server| server.paused) {
            return (0, false);
        }
        let consumed = self.with_login(key, |login, out| login.handle_bytes(input, out));
        (consumed, consumed > 0 && consumed < input.len())
    }

    fn with_login(
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
                self.login_refused(key, &error);
                return 0;
            }
        };
        self.list_server(key);
        match event {
            None => {}
            Some(LoginEvent::StartTls) => {
                let Some(server) = self.servers.get_mut(key) else { return consumed };
                server.paused = true;
                if let ServerStage::Login(opening) = &mut server.stage {
                    opening.reached = Reached::Tls;
                }
                let Some(Some(local)) = self.local_pools.get(server.pool) else { return consumed };
                self.actions.push_back(Action::ServerTls(key, Arc::clone(&local.database.target)));
            }
            Some(LoginEvent::Ready(ready)) => self.server_ready(key, *ready),
        }
        consumed
    }

    fn login_refused(&mut self, key: ServerKey, error: &LoginError) {
        let body = match error {
            LoginError::Refused(refusal) => match refusal.response() {
                Some(response) => {
                    let mut frame = Vec::new();
                    response.encode(&mut frame);
                    frame.split_off(HEADER_BYTES.min(frame.len()))
                }
                None => Self::lost_body(&error.to_string()),
            },
            other => Self::lost_body(&format!("the proxy cannot log in to the server: {other}")),
        };
        self.server_lost(key, &body);
    }

    fn server_ready(&mut self, key: ServerKey, ready: ServerReady) {
        let tracked: Vec<_> = ready.parameters.iter().filter(|(name, _)| follows(name)).cloned().collect();
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
        server.since = now;
        server.stage = ServerStage::Chore(Chore::Connect);
        let query = local.database.connect_query.clone().filter(|query| !query.is_empty());
        match query {
            Some(query) => self.start_query(key, &query, Chore::Connect),
            None => self.server_opened(key),
        }
    }

    /// It is ready for clients: until then it counts as being opened, and nobody opens another for the same client.
    pub(super) fn server_opened(&mut self, key: ServerKey) {
        let Some(pool) = self.servers.get(key).map(|server| server.pool) else { return };
        if let Some(local) = self.local_pool_mut(pool) {
            local.pool.opened();
        }
        self.learn_from(key);
        self.free_server(key);
    }

    /// The body of an ErrorResponse of ours about a server.
    pub(super) fn lost_body(text: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        ErrorResponse::fatal(SqlState::CONNECTION_FAILURE, text).encode(&mut frame);
        frame.split_off(HEADER_BYTES)
    }

    /// The server's connection is gone, or could not be made; `why` in words.
    pub fn server_closed(&mut self, key: ServerKey, why: &str) {
        self.server_lost(key, &Self::lost_body(why));
        self.do_what_is_due();
    }

    /// A server connection is lost; `body` is of the ErrorResponse that says why.
    pub(super) fn server_lost(&mut self, key: ServerKey, body: &[u8]) {
        let Some(mut server) = self.servers.remove(key) else { return };
        self.actions.push_back(Action::CloseServer(key, Vec::new()));
        self.forget_cancels(key);
        let now = self.now;
        let pool = server.pool;
        let Some(local) = self.local_pools.get_mut(pool).and_then(Option::as_deref_mut) else { return };
        let stage = std::mem::replace(&mut server.stage, ServerStage::Abandoned);
        let target = &local.database.target;
        if let ServerStage::Login(opening) = &stage {
            let tls_was_tried = match opening.reached {
                Reached::Nothing => false,
                Reached::Server => target.tls == TlsWish::Never,
                Reached::Tls => true,
            };
            if tls_was_tried && !opening.last_try && target.second_try.is_some() {
                // Still counted as being opened: it is the same attempt, by the other way of TLS.
                let other = opening.way.other();
                return self.open_server_by(pool, other, true);
            }
        }
        let failed = match stage {
            ServerStage::Login(_) | ServerStage::Chore(Chore::Connect) => {
                local.counters.open_failed += 1;
                local.last_error = with_severity(body, true);
                let why = error_text(&local.last_error);
                let (name, user) = (in_short(&local.name), in_short(&local.user));
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
                local.pool.lost();
                Vec::new()
            }
            _ => {
                local.counters.lost += 1;
                local.pool.lost();
                let (name, user) = (in_short(&local.name), in_short(&local.user));
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
            self.fail_for_pool(waiter.client, pool, purpose);
        }
        let lent = match stage {
            ServerStage::Lent(client) => Some(client),
            _ => None,
        };
        self.fail_turns(lent, server, body);
        self.serve_place(pool);
    }

    /// Tells a client that its pool's server cannot be had.
    pub(super) fn fail_for_pool(&mut self, key: ClientKey, pool: PoolId, purpose: Purpose) {
        let Some(local) = self.local_pool(pool) else { return };
        let error = match local.last_error.is_empty() {
            true => with_severity(&Self::lost_body("the server cannot be reached"), true),
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

    /// The server connection is gone that these clients were lent or owed answers by.
    pub(super) fn fail_turns(&mut self, lent: Option<ClientKey>, mut server: Box<Server>, body: &[u8]) {
        let cut = server.speaks_to().filter(|_| server.rest.is_passed());
        let is_kept = lent.is_some_and(|lent| self.is_kept(lent, &server));
        server.release_copy_syncs();
        let lost = undo_lost(&mut self.clients, &mut server);
        let error = with_severity(body, false);
        let mut owners: Vec<ClientKey> = lost.owners.iter().filter_map(|owner| owner.client()).collect();
        let turns = |key: ClientKey| lost.owners.iter().filter(|owner| owner.client() == Some(key)).count();
        owners.dedup();
        for key in owners.into_iter().filter(|owner| Some(*owner) != lent) {
            match cut == Some(key) {
                true => self.close_client(key),
                false => self.fail_owed(key, turns(key), &error),
            }
        }
        let Some(key) = lent else { return };
        let Some(client) = self.clients.get_mut(key) else { return };
        match client.stage {
            Stage::Linked(_, Purpose::AuthQuery) => {
                let why = error_text(&error);
                self.warn("auth_query", format!("the server connection was lost during auth_query: {why}"));
                self.cannot_look_up(key);
            }
            Stage::Linked(..) if !is_kept || cut == Some(key) => {
                if cut != Some(key) {
                    client.outbox.push(&with_severity(body, true));
                }
                self.close_client(key);
            }
            Stage::Linked(..) => self.fail_lent(key, turns(key), &server, &lost, &error),
            _ => {}
        }
    }

    /// Whether a client goes on without the server connection that it was lent.
    fn is_kept(&self, key: ClientKey, server: &Server) -> bool {
        let Some(client) = self.clients.get(key) else { return false };
        // Messages after a BEGIN must not be run without it.
        let turns = server.turns.turns_of_client()
            + usize::from(server.turns.is_unsynced())
            + usize::from(!client.inbox.is_empty());
        let in_transaction = server.status != TransactionStatus::Idle || (server.pending.begins && turns > 1);
        matches!(client.stage, Stage::Linked(_, Purpose::Turn)) && !in_transaction && client.pins.is_empty()
    }

    /// The server connection that a client was lent is gone, with this many turns of its to be told.
    fn fail_lent(&mut self, key: ClientKey, turns: usize, server: &Server, lost: &LostTurns, error: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.fail_turns(turns, error);
        let skipping = server.turns.is_skipping();
        if server.turns.is_unsynced() || lost.unended {
            // Its last turn has no Sync yet: it hears of the error now, unless it has heard of another.
            if !skipping {
                client.outbox.push(error);
            }
            // When all of it was answered, the error is of what the client asks next.
            client.after_error =
                if skipping || lost.unended { AfterError::SkipToSync } else { AfterError::SkipNextTurn };
        }
        client.rest.drop_it();
        client.stage = Stage::Idle;
        client.held = false;
        client.resets = None;
        client.turns_answered();
        self.list_client(key);
        self.deal_inbox(key);
        self.restrain_client(key);
    }

    /// Closes a server connection that is on no list, in good order.
    pub(super) fn close_server(&mut self, key: ServerKey) {
        if let Some(pool) = self.hang_up(key) {
            self.serve_place(pool);
        }
    }

    /// Closes it for the caller, who does what can be done with the place that it leaves. Returns its pool.
    pub(super) fn hang_up(&mut self, key: ServerKey) -> Option<PoolId> {
        let mut server = self.servers.remove(key)?;
        let good_bye = if server.turns.is_empty() { terminate::FRAME.to_vec() } else { Vec::new() };
        self.actions.push_back(Action::CloseServer(key, good_bye));
        self.forget_cancels(key);
        let home = server.pool;
        let pool = &mut self.local_pool_mut(home)?.pool;
        match server.stage {
            ServerStage::Login(_) | ServerStage::Chore(Chore::Connect) => pool.open_given_up(),
            _ => pool.lost(),
        }
        server.stage = ServerStage::Abandoned;
        if server.turns.has_clients() {
            self.due.push_back(Due::TurnsLost(server));
        }
        Some(home)
    }
}
