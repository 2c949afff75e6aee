//! RESET and its kin: a pooled connection's own defaults are the server's, its client's are what it set at start-up.

use std::sync::Arc;

use trunkline_wire::backend::{ParameterStatus, TransactionStatus};

use super::Board;
use crate::carried::bring_parameters;
use crate::carried::parameters::{Profile, UNKNOWN, decode, encode, follows, write_local};
use crate::client::Client;
use crate::keys::ServerKey;
use crate::server::Server;
use crate::text::Effects;
use crate::turn::{Chore, Reply};

/// Values of one report that are read again when it tells of another encoding: a report has few that are not ASCII.
const MISREAD_MAX: usize = 16;

impl Client {
    /// A command of the turn under way has these effects.
    pub(crate) fn add_resets(&mut self, effects: &Effects) {
        if self.resets.is_none() && !effects.has_resets() {
            return;
        }
        let resets = self.resets.get_or_insert_default();
        for reset in &effects.resets {
            let has_value = |name| self.startup.value(name).or_else(|| self.profile.value(name)).is_some();
            resets.add(reset, reset.name().is_none_or(has_value));
        }
    }

    /// Whether the value that the server reports may not be what the client has: its start-up value comes back.
    pub(crate) fn is_masked(&self, name: &str, value: &[u8], server: &Server) -> bool {
        let Some(resets) = &self.resets else { return false };
        let is_default = server.is_own_default(name, std::str::from_utf8(value).ok());
        (resets.bring_back(name, is_default) || resets.bring_back_locally(name, is_default))
            && self.startup.value(name).map(str::as_bytes) != Some(value)
    }
}

impl Board {
    /// The server reports a parameter's new value, in the encoding that its connection has.
    pub(super) fn parameter_changed(&mut self, key: ServerKey, name: &str, value: &[u8]) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if name == "client_encoding" {
            // All values of one report are in the encoding of which it may tell last.
            let encoding = String::from_utf8_lossy(value).into_owned();
            for (name, value) in std::mem::take(&mut server.maybe_misdecoded) {
                self.read_parameter(key, &name, &value, &encoding);
            }
            return self.read_parameter(key, name, value, &encoding);
        }
        if server.turns.sets_parameters_again() {
            // What was set for one client is set for another since: the profile is what holds after that.
            return;
        }
        let ours = server.turns.head().is_some_and(Reply::is_ours);
        if ours && server.profile.value(name).is_some_and(|set| set.as_bytes() == value) {
            // What we have set, reported in UTF8 before its client's encoding is set.
            return;
        }
        let encoding = server.profile.value("client_encoding").unwrap_or("UTF8").to_owned();
        if !value.is_ascii() && server.maybe_misdecoded.len() < MISREAD_MAX {
            server.maybe_misdecoded.push((name.into(), value.into()));
        }
        self.read_parameter(key, name, value, &encoding);
    }

    fn read_parameter(&mut self, key: ServerKey, name: &str, value: &[u8], encoding: &str) {
        if !follows(name) {
            return;
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        let before = Arc::clone(&server.profile);
        let value = decode(value, encoding);
        let mut profile = (*before).clone();
        // A value that cannot be read is set again for the next client.
        profile.set(name, value.as_deref().unwrap_or(UNKNOWN));
        let profile = self.profiles.intern(profile);
        server.profile = Arc::clone(&profile);
        self.tell_of_parameter(key, name, value, &before, profile);
    }

    /// The client whose turn it is has the server's new value, unless that came about by work of ours.
    fn tell_of_parameter(
        &mut self,
        key: ServerKey,
        name: &str,
        value: Option<String>,
        before: &Arc<Profile>,
        profile: Arc<Profile>,
    ) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.turns.head().is_some_and(Reply::is_ours) {
            return;
        }
        let Some(client_key) = server.speaks_to() else { return };
        let Some(client) = self.clients.get_mut(client_key).filter(|client| client.runs_turns()) else {
            return;
        };
        let Some(value) = value.filter(|value| !client.is_masked(name, value.as_bytes(), server)) else {
            return;
        };
        client.profile = if client.profile == *before {
            profile
        } else {
            let mut own = (*client.profile).clone();
            own.set(name, &value);
            self.profiles.intern(own)
        };
    }

    /// Something was reset of which it is not known what: the values of parameters that are not reported are not known
    /// either.
    pub(super) fn parameters_unknown(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(welcome) = server.welcome.clone() else { return };
        let profile = server.profile.unknown_but(|name| welcome.reports(name));
        server.profile = self.profiles.intern(profile);
    }

    /// The turn that is about to end with this status has reset parameters: the client has its start-up values again, and
    /// is told so.
    pub(super) fn apply_resets(&mut self, key: ServerKey, status: TransactionStatus) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(client_key) = server.speaks_to() else { return };
        let Some(client) = self.clients.get_mut(client_key) else { return };
        let Some(resets) = client.resets.take() else { return };
        let (mut own, mut there) = ((*client.profile).clone(), (*server.profile).clone());
        let startup = Arc::clone(&client.startup);
        let names: Vec<String> = own.iter().chain(startup.iter()).map(|(name, _)| name.to_owned()).collect();
        let reports = |name: &str| server.welcome.as_ref().is_some_and(|welcome| welcome.reports(name));
        let mut local_defaults = Vec::new();
        for name in &names {
            let is_default = server.is_own_default(name, there.value(name));
            if resets.bring_back(name, is_default) {
                match startup.value(name) {
                    Some(value) => own.set(name, value),
                    None => own.remove(name),
                }
                // What the server reports it has said; the others have its own values now, unless a ROLLBACK still to come
                // brings back what they had.
                match status {
                    _ if reports(name) => {}
                    TransactionStatus::Idle => there.remove(name),
                    _ => there.set(name, UNKNOWN),
                }
            } else if resets.bring_back_locally(name, is_default) {
                let back = startup.value(name).filter(|_| status == TransactionStatus::InTransaction);
                if let Some(value) = back.or_else(|| there.value(name)).filter(|_| reports(name)) {
                    own.set(name, value);
                }
                local_defaults.extend(back.map(|value| (name.as_str().into(), value.into())));
            }
        }
        for (name, value) in changed(&client.profile, &own) {
            if reports(name) {
                let value = encode(value, own.value("client_encoding").unwrap_or("UTF8"));
                let status = ParameterStatus { name: name.as_bytes(), value: &value };
                status.encode(client.outbox.buffer());
            }
        }
        client.profile = self.profiles.intern(own);
        server.profile = self.profiles.intern(there);
        server.resetting = Some(local_defaults);
        self.list_client(client_key);
    }

    /// Sets what a reset has taken from a client that keeps its connection.
    pub(super) fn restore_parameters(
        &mut self,
        client_key: crate::keys::ClientKey,
        key: ServerKey,
        local_defaults: &[(Box<str>, Box<str>)],
    ) {
        let (Some(client), Some(server)) = (self.clients.get(client_key), self.servers.get_mut(key)) else {
            return;
        };
        if !local_defaults.is_empty() {
            write_local(local_defaults, server.outbox.buffer());
            server.note_query_sent(Chore::Parameters);
            let mut there = (*server.profile).clone();
            for (name, value) in local_defaults {
                // Those that are not reported have their session's value again when the transaction is over.
                if server.welcome.as_ref().is_some_and(|welcome| welcome.reports(name)) {
                    there.set(name, value);
                }
            }
            server.profile = self.profiles.intern(there);
        }
        bring_parameters(server, Arc::clone(&client.profile), Chore::Parameters);
        self.list_server(key);
    }
}

/// What differs, with its new value.
fn changed<'a>(before: &'a Profile, now: &'a Profile) -> impl Iterator<Item = (&'a str, &'a str)> {
    now.iter().filter(|(name, value)| before.value(name) != Some(value))
}
