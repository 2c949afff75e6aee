//! Parameters that a client changes, and RESET, RESET ALL and DISCARD ALL.
//!
//! After a RESET a server connection has the server's default. But the client expects its own start-up value, so we set that
//! again.

use std::sync::Arc;

use trunkline_wire::backend::{ParameterStatus, TransactionStatus};

use super::Board;
use crate::carried::parameters::{Profile, UNKNOWN, can_be_set, decode, encode, write_local};
use crate::carried::send_parameters;
use crate::client::Client;
use crate::keys::ServerKey;
use crate::server::Server;
use crate::text::Effects;
use crate::turn::{Chore, Reply};

/// How many values are kept to be decoded again, if `client_encoding` is reported after them. In practice few values are not
/// ASCII.
const MISDECODED_MAX: usize = 16;

impl Client {
    /// Notes the resets of a command that the client has sent.
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

    /// Whether the client must not get this value that the server reports: a RESET has caused it, and the client's start-up
    /// value comes back instead.
    pub(crate) fn is_hidden_by_reset(&self, name: &str, value: &[u8], server: &Server) -> bool {
        let Some(resets) = &self.resets else { return false };
        let is_default = server.is_own_default(name, std::str::from_utf8(value).ok());
        (resets.restores_startup_value(name, is_default)
            || resets.restores_startup_value_locally(name, is_default))
            && self.startup.value(name).map(str::as_bytes) != Some(value)
    }
}

impl Board {
    /// The server has reported a parameter's new value, in the encoding of its connection.
    pub(super) fn parameter_changed(&mut self, key: ServerKey, name: &str, value: &[u8]) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if name == "client_encoding" {
            // The values that were reported before may already be in the new encoding: decode them again.
            let encoding = String::from_utf8_lossy(value).into_owned();
            for (name, value) in std::mem::take(&mut server.maybe_misdecoded) {
                self.decode_parameter(key, &name, &value, &encoding);
            }
            return self.decode_parameter(key, name, value, &encoding);
        }
        if server.turns.sets_parameters_again() {
            // We have sent SETs for another client meanwhile, and the profile already says what holds after them.
            return;
        }
        let is_ours = server.turns.head().is_some_and(Reply::is_ours);
        if is_ours && server.profile.value(name).is_some_and(|set| set.as_bytes() == value) {
            // We have set this value. The server reports it in UTF8, because it sets the client's encoding afterwards.
            return;
        }
        let encoding = server.profile.value("client_encoding").unwrap_or("UTF8").to_owned();
        if !value.is_ascii() && server.maybe_misdecoded.len() < MISDECODED_MAX {
            server.maybe_misdecoded.push((name.into(), value.into()));
        }
        self.decode_parameter(key, name, value, &encoding);
    }

    fn decode_parameter(&mut self, key: ServerKey, name: &str, value: &[u8], encoding: &str) {
        if !can_be_set(name) {
            return;
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        let before = Arc::clone(&server.profile);
        let value = decode(value, encoding);
        let mut profile = (*before).clone();
        // A value that cannot be decoded counts as unknown, and is set again for the next client.
        profile.set(name, value.as_deref().unwrap_or(UNKNOWN));
        let profile = self.profiles.intern(profile);
        server.profile = Arc::clone(&profile);
        self.update_client_profile(key, name, value, &before, profile);
    }

    /// Gives the server's new value to the client whose turn has caused it, unless a chore has caused it.
    fn update_client_profile(
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
        let Some(client_key) = server.next_receiver() else { return };
        let Some(client) = self.clients.get_mut(client_key).filter(|client| client.runs_turns()) else {
            return;
        };
        let Some(value) = value.filter(|value| !client.is_hidden_by_reset(name, value.as_bytes(), server))
        else {
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

    /// Parameters were reset, and we do not know which. So the values of all parameters that the server does not report become
    /// unknown.
    pub(super) fn forget_unreported_parameters(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(welcome) = server.welcome.clone() else { return };
        let profile = server.profile.with_unreported_unknown(|name| welcome.reports(name));
        server.profile = self.profiles.intern(profile);
    }

    /// A turn that will end with this status has reset parameters: gives the client its start-up values again, and reports them
    /// to it.
    pub(super) fn apply_resets(&mut self, key: ServerKey, status: TransactionStatus) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(client_key) = server.next_receiver() else { return };
        let Some(client) = self.clients.get_mut(client_key) else { return };
        let Some(resets) = client.resets.take() else { return };
        let (mut of_client, mut of_server) = ((*client.profile).clone(), (*server.profile).clone());
        let startup = Arc::clone(&client.startup);
        let names: Vec<String> =
            of_client.iter().chain(startup.iter()).map(|(name, _)| name.to_owned()).collect();
        let reports = |name: &str| server.welcome.as_ref().is_some_and(|welcome| welcome.reports(name));
        let mut local_defaults = Vec::new();
        for name in &names {
            let is_default = server.is_own_default(name, of_server.value(name));
            if resets.restores_startup_value(name, is_default) {
                match startup.value(name) {
                    Some(value) => of_client.set(name, value),
                    None => of_client.remove(name),
                }
                // The server has reported the new values of some parameters. The others have the server's own values now, but
                // in a transaction a later ROLLBACK may bring back their old values.
                match status {
                    _ if reports(name) => {}
                    TransactionStatus::Idle => of_server.remove(name),
                    _ => of_server.set(name, UNKNOWN),
                }
            } else if resets.restores_startup_value_locally(name, is_default) {
                let back = startup.value(name).filter(|_| status == TransactionStatus::InTransaction);
                if let Some(value) = back.or_else(|| of_server.value(name)).filter(|_| reports(name)) {
                    of_client.set(name, value);
                }
                local_defaults.extend(back.map(|value| (name.as_str().into(), value.into())));
            }
        }
        for (name, value) in changed_parameters(&client.profile, &of_client) {
            if reports(name) {
                let value = encode(value, of_client.value("client_encoding").unwrap_or("UTF8"));
                let status = ParameterStatus { name: name.as_bytes(), value: &value };
                status.encode(client.outbox.buffer());
            }
        }
        client.profile = self.profiles.intern(of_client);
        server.profile = self.profiles.intern(of_server);
        server.resetting = Some(local_defaults);
        self.list_unsent_client(client_key);
    }

    /// Sets the values again that a reset has removed, for a client that keeps its server connection.
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
            let mut of_server = (*server.profile).clone();
            for (name, value) in local_defaults {
                // A parameter that the server does not report has its session's value again when the transaction ends.
                if server.welcome.as_ref().is_some_and(|welcome| welcome.reports(name)) {
                    of_server.set(name, value);
                }
            }
            server.profile = self.profiles.intern(of_server);
        }
        send_parameters(server, Arc::clone(&client.profile), Chore::Parameters);
        self.list_unsent_server(key);
    }
}

/// The parameters whose values differ, with their new values.
fn changed_parameters<'a>(before: &'a Profile, now: &'a Profile) -> impl Iterator<Item = (&'a str, &'a str)> {
    now.iter().filter(|(name, value)| before.value(name) != Some(value))
}
