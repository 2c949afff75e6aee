//! Looks up the stored passwords of users that are not in the configuration: a server is asked with `auth_query`.
//!
//! This happens before the client has proved who it is, so the client must not learn anything from the result. A client with
//! an unknown user, or with a database that does not exist, is asked for its password like any other. If the look-up is
//! impossible, the client always gets the same error, whatever the reason. The reason is in the log.

use std::sync::Arc;

use trunkline_session::authentication::Secret;
use trunkline_wire::backend::{DataRow, ErrorResponse};
use trunkline_wire::frame::HEADER_BYTES;
use trunkline_wire::frontend::{self, Bind, Close, Execute, Parse, Target};
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::kept::gate::Permit;
use super::kept::look_up::LookUp;
use super::kept::secrets::AnswerKey;
use super::refusal::Refusal;
use super::servers::error_text;
use crate::carried::send_parameters;
use crate::client::{Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::ChoreAnswer;
use crate::shorten_name;
use crate::turn::{Chore, Expect, Message, Owner, Subject, Undo};

/// The type `text`: pg_type.dat.
const TEXT_OID: u32 = 25;

impl Board {
    /// Finds the stored password of a client whose user is not in the configuration: in the cache, or by a look-up.
    pub(super) fn find_stored_password(&mut self, key: ClientKey) {
        let Some(look_up) = self.plan_look_up(key) else { return self.challenge(key, None) };
        let ttl = self.directory.auth_cache_ttl;
        if let Some(secret) = self.secrets.get(&look_up.key, self.now, ttl) {
            return self.challenge(key, secret);
        }
        let Some(login) = self.clients.get_mut(key).and_then(|client| client.login.as_mut()) else { return };
        login.look_up = Some(look_up);
        if self.needs_permit(key) {
            let bounds = self.directory.unproven_look_ups;
            if bounds.at_once == 0 {
                return self.found_no_user(key);
            }
            // Clients that already wait for a permit come first.
            let permit = if self.waiting_for_permit.is_empty() {
                self.shared.look_up_gate.enter(bounds, self.now)
            } else {
                None
            };
            if permit.is_none() {
                self.shared.count_limit_hit("unproven_lookups_max");
                return self.queue_for_permit(key);
            }
            self.set_permit(key, permit);
        }
        self.look_up(key);
    }

    /// Says which `auth_query` is run for this client, and in which database; `None` if its database has none. A client whose
    /// database does not exist is looked up too.
    fn plan_look_up(&self, key: ClientKey) -> Option<LookUp> {
        let request = self.clients.get(key)?.login.as_ref()?.request.as_ref()?;
        let directory = &self.directory;
        let entry = directory.database(&request.database).or_else(|| directory.unknown_database_entry())?;
        let query = Arc::clone(entry.auth_query.as_ref()?);
        let fallback = directory.fallback.as_ref().is_some_and(|fallback| Arc::ptr_eq(fallback, entry));
        let client_chose_database = fallback && query.database.is_none();
        let name = if client_chose_database { &request.database } else { &entry.name };
        let database = query.database.as_ref().unwrap_or(name).clone();
        let key = AnswerKey::new(&entry.name, &database, &request.user);
        Some(LookUp { query, database, key, client_chose_database, permit: None })
    }

    fn look_up_of(&self, key: ClientKey) -> Option<&LookUp> {
        self.clients.get(key)?.login.as_ref()?.look_up.as_ref()
    }

    /// Whether the client's look-up needs a permit: it asks in a database that the client has chosen and that is not known
    /// to exist. No permit is needed if a connection to the database failed a moment ago: then nothing is sent to a server.
    fn needs_permit(&self, key: ClientKey) -> bool {
        let Some(look_up) = self.look_up_of(key).filter(|look_up| look_up.client_chose_database) else {
            return false;
        };
        let ledgers = &self.shared.ledgers;
        if ledgers.is_known_to_exist(&look_up.database) {
            return false;
        }
        let failed = |id| self.local_pool(id).is_some_and(|local| local.pool.cannot_serve(self.now));
        !ledgers.find(&look_up.database, &look_up.query.user).is_some_and(|ledger| failed(ledger.id))
    }

    /// Makes a client wait for a permit.
    fn queue_for_permit(&mut self, key: ClientKey) {
        let now = self.now;
        if let Some(client) = self.clients.get_mut(key) {
            client.stage = Stage::Waiting(Purpose::AuthQuery);
            client.pool = None;
            client.last_active = now;
            self.waiting_for_permit.push_back(key);
        }
    }

    fn set_permit(&mut self, key: ClientKey, permit: Option<Permit>) {
        let login = self.clients.get_mut(key).and_then(|client| client.login.as_mut());
        if let Some(look_up) = login.and_then(|login| login.look_up.as_mut()) {
            look_up.permit = permit;
        }
    }

    /// Starts the look-ups of clients that wait for a permit, in their order, as long as the gate gives permits.
    pub(super) fn serve_permit_queue(&mut self) {
        while let Some(key) = self.waiting_for_permit.front().copied() {
            if self.needs_permit(key) {
                let permit = self.shared.look_up_gate.enter(self.directory.unproven_look_ups, self.now);
                if permit.is_none() && self.directory.unproven_look_ups.at_once > 0 {
                    return;
                }
                self.set_permit(key, permit);
            }
            self.waiting_for_permit.pop_front();
            self.look_up(key);
        }
    }

    /// Takes a server connection to run `auth_query` on.
    fn look_up(&mut self, key: ClientKey) {
        let Some(look_up) = self.look_up_of(key) else { return };
        let (query, name) = (Arc::clone(&look_up.query), look_up.database.clone());
        let directory = Arc::clone(&self.directory);
        let Some(database) = directory.database(&name) else {
            self.warn(
                "auth_query",
                format!("the database for auth_query does not exist: \"{}\"", shorten_name(&name)),
            );
            return self.refuse_look_up(key);
        };
        let Some(pool) = self.local_pool_for(&name, database, &query.user) else {
            return self.refuse_look_up(key);
        };
        if let Some(client) = self.clients.get_mut(key) {
            client.pool = Some(pool);
        }
        self.acquire(key, pool, Purpose::AuthQuery);
    }

    /// The client has got a server connection for its look-up: sends the query.
    pub(super) fn send_auth_query(&mut self, key: ClientKey, server_key: ServerKey) {
        // A reload may have changed the configuration while the client waited for the connection.
        let same =
            self.plan_look_up(key).zip(self.look_up_of(key)).is_some_and(|(now, then)| now.key == then.key);
        let query = self.look_up_of(key).filter(|_| same).map(|look_up| Arc::clone(&look_up.query));
        let request = self.clients.get(key).and_then(|client| client.login.as_ref()?.request.as_ref());
        let user = request.map(|request| request.user.clone());
        let (Some(query), Some(user), Some(server)) = (query, user, self.servers.get_mut(server_key)) else {
            return self.refuse_look_up(key);
        };
        // The query's names must not be looked up by a client's search_path (CVE-2025-12819).
        if let Some(base) = server.welcome.as_ref().map(|welcome| Arc::clone(&welcome.base)) {
            send_parameters(server, base, Chore::Parameters);
        }
        server.chore_answer = None;
        let out = server.outbox.buffer();
        // The query needs no cast for $1 because $1 has the type `text`.
        let written = Parse::write(out, b"", query.sql.as_bytes(), &[TEXT_OID])
            .and_then(|()| Bind::write(out, b"", b"", &[], &[Some(user.as_bytes())], &[]));
        if written.is_err() {
            return self.refuse_look_up(key);
        }
        Execute { portal: b"", max_rows: 1 }.encode(out);
        Close { target: Target::Statement, name: b"" }.encode(out);
        frontend::sync::encode(out);
        let on_server = std::mem::take(&mut server.statements.unnamed);
        for (message, undo) in [
            (Message::Parse(Subject::Untracked), Undo::ServerUnnamed(on_server)),
            (Message::Bind(Subject::Untracked), Undo::Nothing),
            (Message::Execute, Undo::Nothing),
            (Message::Close, Undo::ServerUnnamed(Some(self.shared.registry.fresh_id()))),
            (Message::Sync, Undo::Nothing),
        ] {
            server.turns.push(Expect::discard(message, undo), Owner::Chore(Chore::AuthQuery));
        }
        self.list_unsent_server(server_key);
    }

    /// The server has answered the query that [`Board::send_auth_query`] has sent.
    pub(super) fn look_up_answered(
        &mut self,
        key: ClientKey,
        answer: Option<ChoreAnswer>,
        server_key: ServerKey,
    ) {
        if let Some(client) = self.clients.get_mut(key) {
            client.stage = Stage::Login;
        }
        let pool = self.servers.get(server_key).map(|server| server.pool);
        self.free_server(server_key);
        let request = self.clients.get(key).and_then(|client| client.login.as_ref()?.request.as_ref());
        let Some(user) = request.map(|request| &request.user) else { return };
        let secret = match answer {
            Some(ChoreAnswer::Error(error)) => {
                let local = pool.and_then(|pool| self.local_pool(pool));
                let database = local.map(|local| shorten_name(&local.name).into_owned()).unwrap_or_default();
                let text = format!("auth_query failed in database \"{database}\": {}", error_text(&error));
                self.warn("auth_query", text);
                return self.refuse_look_up(key);
            }
            Some(ChoreAnswer::Row(body)) => stored_password(&body, user),
            None => None,
        };
        self.finish_look_up(key, secret);
    }

    /// The look-up could not be done because the server could not be reached, or was lost; `error` is the ErrorResponse.
    pub(super) fn look_up_failed(&mut self, key: ClientKey, error: &[u8]) {
        let client_chose_database = self.look_up_of(key).is_some_and(|look_up| look_up.client_chose_database);
        if client_chose_database && may_mean_no_such_database(error) {
            return self.found_no_user(key);
        }
        self.refuse_look_up(key);
    }

    fn found_no_user(&mut self, key: ClientKey) {
        self.finish_look_up(key, None);
    }

    /// Keeps the result of the look-up in the cache, and asks the client for its password.
    fn finish_look_up(&mut self, key: ClientKey, secret: Option<Secret>) {
        let login = self.clients.get_mut(key).and_then(|client| client.login.as_mut());
        let Some(look_up) = login.and_then(|login| login.look_up.take()) else { return };
        if !self.directory.auth_cache_ttl.is_zero() {
            let most = self.directory.auth_cache_bytes_max / self.shared.ledgers.workers().max(1);
            if self.secrets.insert(look_up.key, secret.clone(), self.now, most) {
                self.shared.count_limit_hit("auth_cache_bytes_max");
            }
        }
        drop(look_up.permit);
        self.challenge(key, secret);
        self.schedule_inbox(key);
    }

    /// Refuses a client whose look-up is impossible. The error is the same for all reasons.
    pub(super) fn refuse_look_up(&mut self, key: ClientKey) {
        let text = "logins cannot be checked at the moment: please try again";
        self.refuse(key, &Refusal::new(SqlState::CANNOT_CONNECT_NOW, text));
    }
}

/// Whether an ErrorResponse to a login may mean that the database does not exist. It does not if it is our own error about
/// an unreachable server (class 08), or if the server starts or stops (57P01 to 57P03).
fn may_mean_no_such_database(error: &[u8]) -> bool {
    let code = ErrorResponse::decode(error.get(HEADER_BYTES..).unwrap_or_default())
        .ok()
        .and_then(|error| error.code());
    code.is_some_and(|code| !code.as_str().starts_with("08") && !code.as_str().starts_with("57P"))
}

/// The stored password in the row that `auth_query` has returned: its second column, if the first is the user's name.
fn stored_password(row: &[u8], user: &str) -> Option<Secret> {
    let row = DataRow::decode(row).ok()?;
    let mut columns = row.values;
    let name = columns.next()??;
    let stored = columns.next()??;
    if name == user.as_bytes() { Secret::parse(stored).ok() } else { None }
}
