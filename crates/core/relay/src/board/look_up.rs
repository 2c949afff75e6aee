//! Users that the configuration does not know: a server is asked (`auth_query`), before they have proved anything.
//!
//! So whatever becomes of a look-up, who waits for it learns nothing by it. A user whom nobody knows is asked for proof
//! like any other, and so is who wants a database that does not exist. When a look-up cannot be done, there is one answer for
//! all reasons; the log has the reason.

use std::sync::Arc;

use trunkline_session::authentication::Secret;
use trunkline_wire::backend::{DataRow, ErrorResponse};
use trunkline_wire::frame::HEADER_BYTES;
use trunkline_wire::frontend::{self, Bind, Close, Execute, Parse, Target};
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use super::kept::gate::Pass;
use super::kept::look_up::LookUp;
use super::kept::secrets::Asked;
use super::refusal::Refusal;
use super::servers::error_text;
use crate::carried::bring_parameters;
use crate::client::{Purpose, Stage};
use crate::in_short;
use crate::keys::{ClientKey, ServerKey};
use crate::server::ChoreAnswer;
use crate::turn::{Chore, Expect, Message, Owner, Subject, Undo};

/// The type `text`: pg_type.dat.
const TEXT_OID: u32 = 25;

impl Board {
    /// Finds out what the proof of a client is checked against that the configuration does not know.
    pub(super) fn find_secret(&mut self, key: ClientKey) {
        let Some(look_up) = self.way_to_look_up(key) else { return self.challenge(key, None) };
        let ttl = self.directory.auth_cache_ttl;
        if let Some(secret) = self.secrets.get(&look_up.asked, self.now, ttl) {
            return self.challenge(key, secret);
        }
        let Some(login) = self.clients.get_mut(key).and_then(|client| client.login.as_mut()) else { return };
        login.look_up = Some(look_up);
        if self.must_be_let_in(key) {
            let bounds = self.directory.unproven_look_ups;
            if bounds.at_once == 0 {
                return self.nobody_found(key);
            }
            // Those who have waited go first.
            let pass =
                if self.strangers.is_empty() { self.shared.unproven.enter(bounds, self.now) } else { None };
            if pass.is_none() {
                self.shared.hit("unproven_lookups_max");
                return self.let_wait(key);
            }
            self.give_pass(key, pass);
        }
        self.look_up(key);
    }

    /// Who is asked about this client's user, and where. Who wants a database that does not exist is looked up all the same.
    fn way_to_look_up(&self, key: ClientKey) -> Option<LookUp> {
        let request = self.clients.get(key)?.login.as_ref()?.request.as_ref()?;
        let directory = &self.directory;
        let entry = directory.database(&request.database).or_else(|| directory.strangers())?;
        let query = Arc::clone(entry.auth_query.as_ref()?);
        let fallback = directory.fallback.as_ref().is_some_and(|fallback| Arc::ptr_eq(fallback, entry));
        let chosen = fallback && query.database.is_none();
        let name = if chosen { &request.database } else { &entry.name };
        let there = query.database.as_ref().unwrap_or(name).clone();
        let asked = Asked::new(&entry.name, &there, &request.user);
        Some(LookUp { query, there, asked, chosen, pass: None })
    }

    fn look_up_of(&self, key: ClientKey) -> Option<&LookUp> {
        self.clients.get(key)?.login.as_ref()?.look_up.as_ref()
    }

    /// Whether the look-up asks in a database of the client's choice that is not known to exist. One that a moment ago could
    /// not be connected to costs nothing: that is known still.
    fn must_be_let_in(&self, key: ClientKey) -> bool {
        let Some(look_up) = self.look_up_of(key).filter(|look_up| look_up.chosen) else { return false };
        let ledgers = &self.shared.ledgers;
        if ledgers.is_proven(&look_up.there) {
            return false;
        }
        let failed = |id| self.local_pool(id).is_some_and(|local| local.pool.out_of_order(self.now));
        !ledgers.find(&look_up.there, &look_up.query.user).is_some_and(|ledger| failed(ledger.id))
    }

    /// Has a client wait until there are fewer look-ups in databases that nobody knows.
    fn let_wait(&mut self, key: ClientKey) {
        let now = self.now;
        if let Some(client) = self.clients.get_mut(key) {
            client.stage = Stage::Waiting(Purpose::AuthQuery);
            client.pool = None;
            client.since = now;
            self.strangers.push_back(key);
        }
    }

    fn give_pass(&mut self, key: ClientKey, pass: Option<Pass>) {
        let login = self.clients.get_mut(key).and_then(|client| client.login.as_mut());
        if let Some(look_up) = login.and_then(|login| login.look_up.as_mut()) {
            look_up.pass = pass;
        }
    }

    /// Lets those in who wait for a look-up, as far as it goes.
    pub(super) fn serve_strangers(&mut self) {
        while let Some(key) = self.strangers.front().copied() {
            if self.must_be_let_in(key) {
                let pass = self.shared.unproven.enter(self.directory.unproven_look_ups, self.now);
                if pass.is_none() && self.directory.unproven_look_ups.at_once > 0 {
                    return;
                }
                self.give_pass(key, pass);
            }
            self.strangers.pop_front();
            self.look_up(key);
        }
    }

    /// Asks a server for a user's password.
    fn look_up(&mut self, key: ClientKey) {
        let Some(look_up) = self.look_up_of(key) else { return };
        let (query, there) = (Arc::clone(&look_up.query), look_up.there.clone());
        let directory = Arc::clone(&self.directory);
        let Some(database) = directory.database(&there) else {
            self.warn(
                "auth_query",
                format!("the database for auth_query does not exist: \"{}\"", in_short(&there)),
            );
            return self.cannot_look_up(key);
        };
        let Some(pool) = self.local_pool_for(&there, database, &query.user) else {
            return self.cannot_look_up(key);
        };
        if let Some(client) = self.clients.get_mut(key) {
            client.pool = Some(pool);
        }
        self.acquire(key, pool, Purpose::AuthQuery);
    }

    /// The client got a server connection to look its user up with.
    pub(super) fn ask_for_secret(&mut self, key: ClientKey, server_key: ServerKey) {
        // The configuration may have been read again while the client waited for the connection.
        let same = self
            .way_to_look_up(key)
            .zip(self.look_up_of(key))
            .is_some_and(|(now, then)| now.asked == then.asked);
        let way = self.look_up_of(key).filter(|_| same).map(|look_up| Arc::clone(&look_up.query));
        let request = self.clients.get(key).and_then(|client| client.login.as_ref()?.request.as_ref());
        let user = request.map(|request| request.user.clone());
        let (Some(query), Some(user), Some(server)) = (way, user, self.servers.get_mut(server_key)) else {
            return self.cannot_look_up(key);
        };
        // No client's search_path may choose what the query's names mean (CVE-2025-12819).
        if let Some(base) = server.welcome.as_ref().map(|welcome| Arc::clone(&welcome.base)) {
            bring_parameters(server, base, Chore::Parameters);
        }
        server.chore_answer = None;
        let out = server.outbox.buffer();
        // Of that type $1 needs no cast.
        let written = Parse::write(out, b"", query.sql.as_bytes(), &[TEXT_OID])
            .and_then(|()| Bind::write(out, b"", b"", &[], &[Some(user.as_bytes())], &[]));
        if written.is_err() {
            return self.cannot_look_up(key);
        }
        Execute { portal: b"", max_rows: 1 }.encode(out);
        Close { target: Target::Statement, name: b"" }.encode(out);
        frontend::sync::encode(out);
        let on_server = std::mem::take(&mut server.statements.unnamed);
        for (message, undo) in [
            (Message::Parse(Subject::Untracked), Undo::Unnamed(on_server)),
            (Message::Bind(Subject::Untracked), Undo::Nothing),
            (Message::Execute, Undo::Nothing),
            (Message::Close, Undo::Unnamed(Some(self.shared.registry.fresh_id()))),
            (Message::Sync, Undo::Nothing),
        ] {
            server.turns.push(Expect::skip(message, undo), Owner::Chore(Chore::AuthQuery));
        }
        self.list_server(server_key);
    }

    /// The answer to [`Board::ask_for_secret`] is complete.
    pub(super) fn secret_found(
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
                let asked = pool.and_then(|pool| self.local_pool(pool));
                let asked = asked.map(|local| in_short(&local.name).into_owned()).unwrap_or_default();
                let text = format!("auth_query failed in database \"{asked}\": {}", error_text(&error));
                self.warn("auth_query", text);
                return self.cannot_look_up(key);
            }
            Some(ChoreAnswer::Row(body)) => stored_password(&body, user),
            None => None,
        };
        self.found(key, secret);
    }

    /// The client's look-up has come to nothing because its server could not be reached, or was lost; `error` says why.
    pub(super) fn look_up_failed(&mut self, key: ClientKey, error: &[u8]) {
        let chosen = self.look_up_of(key).is_some_and(|look_up| look_up.chosen);
        if chosen && speaks_of_database(error) {
            return self.nobody_found(key);
        }
        self.cannot_look_up(key);
    }

    fn nobody_found(&mut self, key: ClientKey) {
        self.found(key, None);
    }

    /// Remembers what was found, and asks the client for its proof.
    fn found(&mut self, key: ClientKey, secret: Option<Secret>) {
        let login = self.clients.get_mut(key).and_then(|client| client.login.as_mut());
        let Some(look_up) = login.and_then(|login| login.look_up.take()) else { return };
        if !self.directory.auth_cache_ttl.is_zero() {
            let most = self.directory.auth_cache_bytes_max / self.shared.ledgers.workers().max(1);
            if self.secrets.insert(look_up.asked, secret.clone(), self.now, most) {
                self.shared.hit("auth_cache_bytes_max");
            }
        }
        drop(look_up.pass);
        self.challenge(key, secret);
        self.deal_inbox(key);
    }

    /// One answer for whatever has gone wrong.
    pub(super) fn cannot_look_up(&mut self, key: ClientKey) {
        let text = "logins cannot be checked at the moment: please try again";
        self.refuse(key, &Refusal::new(SqlState::CANNOT_CONNECT_NOW, text));
    }
}

/// Whether an ErrorResponse is a server's, about the login that it refused: it may mean that there is no such database. Not
/// what we say when there is no server (class 08), nor what it says of itself (57P01 to 57P03).
fn speaks_of_database(error: &[u8]) -> bool {
    let code = ErrorResponse::decode(error.get(HEADER_BYTES..).unwrap_or_default())
        .ok()
        .and_then(|error| error.code());
    code.is_some_and(|code| !code.as_str().starts_with("08") && !code.as_str().starts_with("57P"))
}

/// The stored password in `auth_query`'s row: its second column, if the first is the user asked for.
fn stored_password(row: &[u8], user: &str) -> Option<Secret> {
    let row = DataRow::decode(row).ok()?;
    let mut columns = row.values;
    let name = columns.next()??;
    let stored = columns.next()??;
    if name == user.as_bytes() { Secret::parse(stored).ok() } else { None }
}
