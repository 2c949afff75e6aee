//! A client's login, from its first byte to ReadyForQuery.

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
use crate::carried::parameters::{
    Profile, SEED, belongs_to_transaction, can_be_encoded, canonical_name, encode, is_parameter_name,
};
use crate::carried::send_parameters;
use crate::client::{CancelIdentity, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::ChoreAnswer;
use crate::shown::{REASON_BYTES_MAX, shorten};
use crate::turn::Chore;

impl Board {
    pub(super) fn login_bytes(&mut self, key: ClientKey, input: &[u8]) -> (usize, bool) {
        let Some(client) = self.clients.get_mut(key) else { return (input.len(), false) };
        let Some(login) = client.login.as_mut() else { return (0, false) };
        let (consumed, event) = match login.machine.handle_bytes(input, client.outbox.buffer()) {
            Ok(consumed) => (consumed, login.machine.poll()),
            Err(error) => {
                let why = error.to_string();
                self.debug(format!("client {key:?} cannot log in: {}", shorten(&why, REASON_BYTES_MAX)));
                self.logins_failed += u64::from(error.failure != LoginFailure::Left);
                self.close_client(key);
                return (input.len(), false);
            }
        };
        self.list_unsent_client(key);
        if let Some(event) = event {
            self.login_event(key, event);
            // The bytes after this message are processed in the client's new stage.
            self.due.push_back(Due::ProcessInbox(key));
        }
        (consumed, false)
    }

    /// Handles the next event of the client's login, if there is one.
    pub(super) fn continue_login(&mut self, key: ClientKey) {
        let login = self.clients.get_mut(key).and_then(|client| client.login.as_mut());
        if let Some(event) = login.and_then(|login| login.machine.poll()) {
            self.login_event(key, event);
        }
        self.schedule_inbox(key);
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

    /// The shell begins TLS with a client, and reads from the client again.
    pub fn client_tls_starting(&mut self, key: ClientKey) {
        if let Some(client) = self.clients.get_mut(key) {
            client.paused = false;
        }
    }

    /// TLS with a client is established; `binding` is its channel binding data `tls-server-end-point`.
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
            self.shared.count_limit_hit("max_client_conn");
            let refusal =
                Refusal::new(SqlState::TOO_MANY_CONNECTIONS, "no more connections allowed (max_client_conn)");
            return self.refuse(key, &refusal);
        }
        let user = request.user.clone();
        if let Some(login) = self.clients.get_mut(key).and_then(|client| client.login.as_mut()) {
            login.request = Some(request);
        }
        // Only a client that has logged in learns whether its database exists. So the database is not checked here.
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
        self.find_stored_password(key);
    }

    pub(super) fn challenge(&mut self, key: ClientKey, secret: Option<Secret>) {
        let challenge = self.directory.challenge;
        // To check a clear text password against a SCRAM verifier, this worker must compute all iterations itself, and serves
        // no client meanwhile. So a verifier with too many of them is not used.
        let iterations_max = self.directory.scram_iterations_max;
        let is_costly = |secret: &Secret| matches!(secret, Secret::Scram(scram) if scram.iterations().get() > iterations_max);
        let secret = secret.filter(|secret| challenge != Challenge::Cleartext || !is_costly(secret));
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Login;
        let Some(login) = client.login.as_mut() else { return };
        login.stored = secret.clone();
        let result = login.machine.challenge(challenge, secret, &mut *self.entropy, client.outbox.buffer());
        if result.is_err() {
            self.logins_failed += 1;
            return self.close_client(key);
        }
        self.list_unsent_client(key);
        self.due.push_back(Due::ContinueLogin(key));
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
                .hint("each database and user with connections, now or a short time ago, has a pool");
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
        if !ledger.database.try_add_client(database.capacity.clients) {
            self.shared.count_limit_hit("max_db_client_connections");
            let message = format!(
                "no more client connections allowed for database \"{name}\" (max_db_client_connections)"
            );
            return self.refuse(key, &Refusal::new(SqlState::TOO_MANY_CONNECTIONS, message));
        }
        if !ledger.user.try_add_client(of_user) {
            ledger.database.remove_client();
            self.shared.count_limit_hit("max_user_client_connections");
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
        match self.profile_from_cache(key) {
            Err(message) => self.refuse(key, &Refusal::new(SqlState::INVALID_PARAMETER_VALUE, message)),
            Ok(Some(profile)) => self.welcome(key, profile, None),
            Ok(None) => self.acquire(key, pool, Purpose::Probe),
        }
    }

    /// The start-up parameters that we set for this client on its server connections: canonical names, and the values as the
    /// client has given them.
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
                return Err(format!("\"{name}\" in the startup packet is not a parameter name"));
            }
            let name = canonical_name(name);
            // A parameter of a transaction has no meaning for a session. A seed cannot be reset, so it must not be set on a
            // connection that other clients use.
            if belongs_to_transaction(&name) || (name == SEED && shared) {
                continue;
            }
            wanted.push((name, value.clone()));
        }
        Ok(wanted)
    }

    /// The client's parameters as the server spells them, if the server has accepted all of them before.
    fn profile_from_cache(&mut self, key: ClientKey) -> Result<Option<Arc<Profile>>, String> {
        let wanted = self.wanted_parameters(key)?;
        let Some(home) = self.clients.get(key).and_then(|client| client.home_pool) else { return Ok(None) };
        self.take_shared_welcome(home);
        let Some(local) = self.local_pool(home) else { return Ok(None) };
        let Some(welcome) = &local.welcome else { return Ok(None) };
        if wanted.is_empty() {
            return Ok(Some(Arc::clone(&welcome.base)));
        }
        let mut profile = (*welcome.base).clone();
        for (name, raw) in wanted {
            match local.canonical_values.get(&(name.clone(), raw)) {
                Some(canonical) => profile.set(&name, canonical),
                None => return Ok(None),
            }
        }
        Ok(Some(self.profiles.intern(profile)))
    }

    /// Tries a client's start-up parameters on the server connection that was lent to it.
    pub(super) fn start_probe(&mut self, key: ClientKey, server_key: ServerKey) {
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
        let is_base = profile == *welcome.base;
        server.chore_answer = None;
        // First set the server's own values, because a value can depend on the one before: `DateStyle=ISO` keeps the order of
        // day and month.
        let chore = if is_base { Chore::Probe } else { Chore::Parameters };
        let was_sent = send_parameters(server, Arc::clone(&welcome.base), chore);
        if is_base {
            return match was_sent {
                true => self.list_unsent_server(server_key),
                false => self.finish_probe(key, server_key, None),
            };
        }
        let profile = Arc::new(profile);
        let before = Arc::clone(&server.profile);
        send_parameters(server, Arc::clone(&profile), Chore::Probe);
        // A parameter that the server reports keeps its old value here until the server reports the new one.
        let mut expected = (*profile).clone();
        for (name, value) in before.iter().filter(|(name, _)| welcome.reports(name)) {
            expected.set(name, value);
        }
        server.profile = self.profiles.intern(expected);
        self.list_unsent_server(server_key);
    }

    /// The server has answered the test of a client's start-up parameters: lets the client in, or closes it with the error.
    pub(super) fn finish_probe(
        &mut self,
        key: ClientKey,
        server_key: ServerKey,
        answer: Option<ChoreAnswer>,
    ) {
        let Some(server) = self.servers.get_mut(server_key) else { return };
        let profile = self.profiles.intern((*server.profile).clone());
        server.profile = Arc::clone(&profile);
        let pool = server.pool;
        if let Some(ChoreAnswer::Error(error)) = answer {
            // Other parameters may have been set before the one that failed.
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
                local.remember_canonical(&name, &raw, &canonical);
            }
        }
        let session = matches!(
            self.clients.get(key).map(|client| &client.stage),
            Some(Stage::Linked(_, Purpose::Session))
        );
        if session {
            if let Some(server) = self.servers.get_mut(server_key) {
                server.mark_used();
            }
            return self.welcome(key, profile, Some(server_key));
        }
        if let Some(client) = self.clients.get_mut(key) {
            // The client no longer has the connection.
            client.stage = Stage::Login;
        }
        self.free_server(server_key);
        self.welcome(key, profile, None);
    }

    /// Lets a client in: sends AuthenticationOk, its parameters, its cancel key and ReadyForQuery.
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
        // Each value was accepted alone, but all reported values are sent in the client's encoding, which may lack a character.
        let encoding = profile.value("client_encoding").unwrap_or("UTF8");
        if profile.iter().any(|(name, value)| said.reports(name) && !can_be_encoded(value, encoding)) {
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
        client.last_active = self.now;
        if server_key.is_none() {
            client.stage = Stage::Idle;
        }
        self.shared.unauthenticated.fetch_sub(1, Relaxed);
        self.shared.cancel_keys.register(process_id, cancel_key, self.worker, key);
        self.list_unsent_client(key);
        self.schedule_inbox(key);
    }
}

fn no_such_database(name: &str) -> Refusal<'static> {
    Refusal::new(SqlState::INVALID_CATALOG_NAME, format!("no such database: \"{name}\""))
        .hint("the proxy serves the databases under [databases] of its configuration")
}

/// Lets a pool log in to the server with what this client's login has shown: its password, the stored password, or keys of
/// SCRAM. Called only if the configuration has no password for that.
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
