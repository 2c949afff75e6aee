//! A client's way from its first byte to ReadyForQuery.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use trunkline_pool::PoolMode;
use trunkline_session::authentication::Secret;
use trunkline_session::backend::{
    CancelKey, Challenge, LoginEvent, LoginFailure, Replication, StartupParameters, Verified, welcome,
};
use trunkline_session::frontend::Credential;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::kept::due::Due;
use super::refusal::Refusal;
use super::{Action, Board};
use crate::carried::bring_parameters;
use crate::carried::parameters::{
    Profile, SEED, canonical_name, encode, is_expressible, is_of_a_transaction, is_parameter_name,
};
use crate::client::{CancelIdentity, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::ChoreAnswer;
use crate::shown::{REASON_BYTES_MAX, cut};
use crate::turn::Chore;

impl Board {
    pub(super) fn login_bytes(&mut self, key: ClientKey, input: &[u8]) -> (usize, bool) {
        let Some(client) = self.clients.get_mut(key) else { return (input.len(), false) };
        let Some(login) = client.login.as_mut() else { return (0, false) };
        let (consumed, event) = match login.machine.handle_bytes(input, client.outbox.buffer()) {
            Ok(consumed) => (consumed, login.machine.poll()),
            Err(error) => {
                let why = error.to_string();
                self.debug(format!("client {key:?} cannot log in: {}", cut(&why, REASON_BYTES_MAX)));
                self.logins_failed += u64::from(error.failure != LoginFailure::Left);
                self.close_client(key);
                return (input.len(), false);
            }
        };
        self.list_client(key);
        if let Some(event) = event {
            self.login_event(key, event);
            // What came with it is for the stage that it leads to.
            self.due.push_back(Due::Inbox(key));
        }
        (consumed, false)
    }

    /// The login machine has been told something that may have ended the login.
    pub(super) fn login_goes_on(&mut self, key: ClientKey) {
        let login = self.clients.get_mut(key).and_then(|client| client.login.as_mut());
        if let Some(event) = login.and_then(|login| login.machine.poll()) {
            self.login_event(key, event);
        }
        self.deal_inbox(key);
    }

    fn login_event(&mut self, key: ClientKey, event: LoginEvent) {
        match event {
            LoginEvent::StartTls | LoginEvent::DirectTls => {
                if let Some(client) = self.clients.get_mut(key) {
                    client.paused = true;
                }
                self.actions.push_back(Action::ClientTls(key));
            }
            LoginEvent::Cancel { process_id, secret_key } => {
                self.cancel_requested(key, process_id, &secret_key);
            }
            LoginEvent::Startup(request) => self.login_startup(key, request),
            LoginEvent::Verified(verified) => self.login_verified(key, *verified),
        }
    }

    /// TLS with a client begins: what it sends may be read again.
    pub fn client_tls_starting(&mut self, key: ClientKey) {
        if let Some(client) = self.clients.get_mut(key) {
            client.paused = false;
        }
    }

    /// TLS with a client is established; `binding`: its `tls-server-end-point`.
    pub fn client_tls_started(&mut self, key: ClientKey, binding: Option<Vec<u8>>) {
        let Some(client) = self.clients.get_mut(key) else { return };
        if let Some(login) = client.login.as_mut() {
            login.machine.tls_started(binding);
        }
    }

    fn login_startup(&mut self, key: ClientKey, request: Box<StartupParameters>) {
        let directory = Arc::clone(&self.directory);
        let clients = self.shared.clients.load(Relaxed);
        if directory.clients_max.is_some_and(|most| clients > most) {
            self.shared.hit("max_client_conn");
            let refusal =
                Refusal::new(SqlState::TOO_MANY_CONNECTIONS, "no more connections allowed (max_client_conn)");
            return self.refuse(key, &refusal);
        }
        let user = request.user.clone();
        if let Some(login) = self.clients.get_mut(key).and_then(|client| client.login.as_mut()) {
            login.request = Some(request);
        }
        // Whether there is such a database, is told to who has logged in.
        let known = directory.secret_of(&user);
        if directory.challenge == Challenge::Trust {
            if directory.any_user || directory.users.contains_key(&user) || directory.users.is_empty() {
                return self.challenge(key, None);
            }
            let refusal = Refusal::new(SqlState::INVALID_AUTHORIZATION, format!("no such user: \"{user}\""));
            return self.refuse(key, &refusal);
        }
        if known.is_some() || directory.users.contains_key(&user) {
            return self.challenge(key, known);
        }
        self.find_secret(key);
    }

    pub(super) fn challenge(&mut self, key: ClientKey, secret: Option<Secret>) {
        let challenge = self.directory.challenge;
        // Only the check of a clear text password computes them here, and meanwhile nobody is served.
        let iterations_max = self.directory.scram_iterations_max;
        let costly = |secret: &Secret| matches!(secret, Secret::Scram(scram) if scram.iterations().get() > iterations_max);
        let secret = secret.filter(|secret| challenge != Challenge::Cleartext || !costly(secret));
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Login;
        let Some(login) = client.login.as_mut() else { return };
        login.stored = secret.clone();
        let result = login.machine.challenge(challenge, secret, &mut *self.entropy, client.outbox.buffer());
        if result.is_err() {
            self.logins_failed += 1;
            return self.close_client(key);
        }
        self.list_client(key);
        self.due.push_back(Due::Login(key));
    }

    fn login_verified(&mut self, key: ClientKey, verified: Verified) {
        let directory = Arc::clone(&self.directory);
        let Some(client) = self.clients.get(key) else { return };
        let Some(login) = client.login.as_ref() else { return };
        let Some(request) = login.request.as_ref() else { return };
        let stored = login.stored.clone();
        let (name, user) = (request.database.clone(), request.user.clone());
        let replication = request.replication != Replication::No;
        let Some(database) = directory.database(&name) else {
            return self.refuse(key, &no_such_database(&name));
        };
        if replication {
            let refusal = Refusal::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "replication connections do not go through the proxy",
            )
            .hint("connect to the server itself for replication");
            return self.refuse(key, &refusal);
        }
        let server_user = database.forced_user.as_deref().unwrap_or(&user);
        let Some(pool) = self.local_pool_for(&name, database, server_user) else {
            let refusal = Refusal::new(SqlState::TOO_MANY_CONNECTIONS, "no more pools allowed (pools_max)")
                .hint("a pool is a database and a user that have, or had a short time ago, connections");
            return self.refuse(key, &refusal);
        };
        let Some(local) = self.local_pools.get_mut(pool).and_then(Option::as_deref_mut) else { return };
        let mode = local.pool.settings().mode;
        let plain = directory.users.get(&user).and_then(|user| user.secret.as_ref());
        let configured = database.password.is_some() || matches!(plain, Some(Secret::Plain(_)));
        if server_user == user && !configured {
            learn_credential(&mut local.credential, verified, stored);
        }
        let ledger = Arc::clone(local.pool.ledger());
        let of_user = directory.user_capacity(&user).clients;
        if !ledger.database.take_client(database.capacity.clients) {
            self.shared.hit("max_db_client_connections");
            let message = format!(
                "no more client connections allowed for database \"{name}\" (max_db_client_connections)"
            );
            return self.refuse(key, &Refusal::new(SqlState::TOO_MANY_CONNECTIONS, message));
        }
        if !ledger.user.take_client(of_user) {
            ledger.database.give_client();
            self.shared.hit("max_user_client_connections");
            let message = format!(
                "no more client connections allowed for user \"{user}\" (max_user_client_connections)"
            );
            return self.refuse(key, &Refusal::new(SqlState::TOO_MANY_CONNECTIONS, message));
        }
        if let Some(local) = self.local_pool_mut(pool) {
            local.clients += 1;
        }
        if let Some(client) = self.clients.get_mut(key) {
            client.home_pool = Some(pool);
            client.pool = Some(pool);
            client.tracked = mode != PoolMode::Session;
        }
        if mode == PoolMode::Session {
            return self.acquire(key, pool, Purpose::Session);
        }
        match self.proven_profile(key) {
            Err(message) => self.refuse(key, &Refusal::new(SqlState::INVALID_PARAMETER_VALUE, message)),
            Ok(Some(profile)) => self.welcome(key, profile, None),
            Ok(None) => self.acquire(key, pool, Purpose::Probe),
        }
    }

    /// The start-up parameters that follow this client, by canonical name, as it gave them.
    fn wanted_parameters(&self, key: ClientKey) -> Result<Vec<(String, String)>, String> {
        let client = self.clients.get(key);
        let request = client.and_then(|client| client.login.as_ref()?.request.as_ref());
        let Some(request) = request else { return Ok(Vec::new()) };
        let ignored = &self.directory.ignored_parameters;
        let shared = client.is_none_or(|client| client.tracked);
        let mut wanted = Vec::new();
        for (name, value) in &request.parameters {
            if ignored.iter().any(|ignored| ignored.eq_ignore_ascii_case(name)) {
                continue;
            }
            if !is_parameter_name(name) {
                return Err(format!("\"{name}\" in the start-up packet is no parameter's name"));
            }
            let name = canonical_name(name);
            // The first mean nothing to a session; a seed cannot be taken back from a connection that others use.
            if is_of_a_transaction(&name) || (name == SEED && shared) {
                continue;
            }
            wanted.push((name, value.clone()));
        }
        Ok(wanted)
    }

    /// The client's parameters, when the server is known to take them all.
    fn proven_profile(&mut self, key: ClientKey) -> Result<Option<Arc<Profile>>, String> {
        let wanted = self.wanted_parameters(key)?;
        let Some(home) = self.clients.get(key).and_then(|client| client.home_pool) else { return Ok(None) };
        self.learn_welcome(home);
        let Some(local) = self.local_pool(home) else { return Ok(None) };
        let Some(welcome) = &local.welcome else { return Ok(None) };
        if wanted.is_empty() {
            return Ok(Some(Arc::clone(&welcome.base)));
        }
        let mut profile = (*welcome.base).clone();
        for (name, raw) in wanted {
            match local.proven.get(&(name.clone(), raw)) {
                Some(canonical) => profile.set(&name, canonical),
                None => return Ok(None),
            }
        }
        Ok(Some(self.profiles.intern(profile)))
    }

    /// Tries a client's start-up parameters on the server connection it was lent.
    pub(super) fn probe(&mut self, key: ClientKey, server_key: ServerKey) {
        let wanted = match self.wanted_parameters(key) {
            Ok(wanted) => wanted,
            Err(message) => {
                return self.refuse(key, &Refusal::new(SqlState::INVALID_PARAMETER_VALUE, message));
            }
        };
        let Some(server) = self.servers.get_mut(server_key) else { return };
        let Some(welcome) = server.welcome.clone() else { return };
        let mut profile = (*welcome.base).clone();
        wanted.iter().for_each(|(name, value)| profile.set(name, value));
        let plain = profile == *welcome.base;
        server.chore_answer = None;
        // From the server's own values: `DateStyle=ISO` leaves the order of day and month as it finds it.
        let chore = if plain { Chore::Probe } else { Chore::Parameters };
        let reset = bring_parameters(server, Arc::clone(&welcome.base), chore);
        if plain {
            return match reset {
                true => self.list_server(server_key),
                false => self.probe_over(key, server_key, None),
            };
        }
        let profile = Arc::new(profile);
        let before = Arc::clone(&server.profile);
        bring_parameters(server, Arc::clone(&profile), Chore::Probe);
        // What the server reports is known when it reports it: until then it has what it had.
        let mut expected = (*profile).clone();
        for (name, value) in before.iter().filter(|(name, _)| welcome.reports(name)) {
            expected.set(name, value);
        }
        server.profile = self.profiles.intern(expected);
        self.list_server(server_key);
    }

    /// The server has said what it makes of a client's start-up parameters.
    pub(super) fn probe_over(&mut self, key: ClientKey, server_key: ServerKey, answer: Option<ChoreAnswer>) {
        let Some(server) = self.servers.get_mut(server_key) else { return };
        let profile = self.profiles.intern((*server.profile).clone());
        server.profile = Arc::clone(&profile);
        let pool = server.pool;
        if let Some(ChoreAnswer::Error(error)) = answer {
            // Some may have been set before the one that failed.
            server.condemn_if(true);
            if let Some(client) = self.clients.get_mut(key) {
                client.outbox.push(&super::servers::as_fatal(&error));
            }
            self.logins_failed += 1;
            return self.close_client(key);
        }
        let wanted = self.wanted_parameters(key).unwrap_or_default();
        if let Some(local) = self.local_pool_mut(pool) {
            for (name, raw) in wanted {
                let canonical = profile.value(&name).unwrap_or(&raw).to_owned();
                local.remember(&name, &raw, &canonical);
            }
        }
        let session = matches!(
            self.clients.get(key).map(|client| &client.stage),
            Some(Stage::Linked(_, Purpose::Session))
        );
        if session {
            if let Some(server) = self.servers.get_mut(server_key) {
                server.wear_out();
            }
            return self.welcome(key, profile, Some(server_key));
        }
        if let Some(client) = self.clients.get_mut(key) {
            // Taken before the connection is given on, whose next user may change it.
            client.stage = Stage::Login;
        }
        self.free_server(server_key);
        self.welcome(key, profile, None);
    }

    /// AuthenticationOk, the parameters, the key and ReadyForQuery.
    fn welcome(&mut self, key: ClientKey, profile: Arc<Profile>, server_key: Option<ServerKey>) {
        let server = server_key.and_then(|server| self.servers.get(server));
        let said = match server {
            Some(server) => server.welcome.clone(),
            None => {
                self.clients.get(key).and_then(|client| self.local_pool(client.home_pool?)?.welcome.clone())
            }
        };
        let Some(said) = said else {
            let refusal =
                Refusal::new(SqlState::CANNOT_CONNECT_NOW, "the server's settings changed: please try again");
            return self.refuse(key, &refusal);
        };
        // Values that are good each for itself need not be together: all that is reported is said in that encoding.
        let encoding = profile.value("client_encoding").unwrap_or("UTF8");
        if profile.iter().any(|(name, value)| said.reports(name) && !is_expressible(value, encoding)) {
            let text = format!(
                "a start-up parameter has a character that has no equivalent in encoding \"{encoding}\""
            );
            return self.refuse(key, &Refusal::new(SqlState::UNTRANSLATABLE_CHARACTER, text));
        }
        let process_id = match server {
            Some(server) if server.process_id != 0 => server.process_id,
            _ => self.shared.next_process_id(),
        };
        let mut random = [0; 32];
        self.entropy.fill(&mut random);
        let Some(client) = self.clients.get_mut(key) else { return };
        let Some(request) = client.login.take().and_then(|login| login.request) else { return };
        let cancel_key = CancelKey::new(request.version, random);
        let own = |name: &str, value| encode(profile.value(name).unwrap_or(value), encoding);
        let parameters: Vec<_> =
            said.parameters.iter().map(|(name, value)| (name.as_bytes(), own(name, value))).collect();
        let parameters = parameters.iter().map(|(name, value)| (*name, &**value));
        welcome(
            client.outbox.buffer(),
            parameters,
            process_id,
            cancel_key.as_bytes(),
            TransactionStatus::Idle,
        );
        client.identity = Some(CancelIdentity { process_id, key: cancel_key });
        client.startup = Arc::clone(&profile);
        client.profile = profile;
        client.since = self.now;
        if server_key.is_none() {
            client.stage = Stage::Idle;
        }
        self.shared.unauthenticated.fetch_sub(1, Relaxed);
        self.shared.cancel_keys.register(process_id, cancel_key, self.worker, key);
        self.list_client(key);
        self.deal_inbox(key);
    }
}

fn no_such_database(name: &str) -> Refusal<'static> {
    Refusal::new(SqlState::INVALID_CATALOG_NAME, format!("no such database: \"{name}\""))
        .hint("the proxy serves the databases under [databases] of its configuration")
}

/// What a client proved itself with, and against, opens the server for its pool, where nothing else is configured.
fn learn_credential(credential: &mut Credential, verified: Verified, stored: Option<Secret>) {
    match (verified.password, verified.scram_keys, stored) {
        (Some(password), ..) | (None, _, Some(Secret::Plain(password))) => {
            *credential = Credential::Password { password, cached: None };
        }
        (None, None, Some(Secret::Md5(hash))) => *credential = Credential::Md5(hash),
        (None, Some(keys), _) => *credential = Credential::ScramKeys(Arc::new(keys)),
        (None, None, _) => {}
    }
}
