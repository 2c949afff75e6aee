//! What a worker's switchboard has, and how it speaks to its shell.

use std::collections::VecDeque;
use std::sync::Arc;

use trunkline_pool::Micros;
use trunkline_pool::arena::Arena;
use trunkline_session::Entropy;

use super::kept::arrivals::Arrivals;
use super::kept::cancels::Cancels;
use super::kept::due::Due;
use super::kept::local_pools::LocalPools;
use super::kept::secrets::Secrets;
use super::mail::{Action, Note, Shutdown};
use super::shared::Shared;
use crate::carried::parameters::{Profile, Profiles};
use crate::client::Client;
use crate::counters::Counters;
use crate::directory::Directory;
use crate::keys::{ClientKey, Clients, ServerKey, Servers};
use crate::server::Server;
use crate::text::ParseBudget;

/// One worker's switchboard. See the module.
pub struct Board {
    pub(super) worker: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) directory: Arc<Directory>,
    pub(super) now: Micros,
    pub(super) clients: Arena<Client, Clients>,
    pub(super) servers: Arena<Server, Servers>,
    /// Pools that this worker has met and not forgotten.
    pub(super) local_pools: LocalPools,
    /// The counts of pools that are forgotten, or have no name of their own in metrics.
    pub(super) forgotten: Counters,
    pub(super) profiles: Profiles,
    pub(super) blank: Arc<Profile>,
    pub(super) entropy: Box<dyn Entropy + Send>,
    pub(super) actions: VecDeque<Action>,
    /// See `due.rs`: empty whenever the shell has its turn.
    pub(super) due: VecDeque<Due>,
    /// Clients that have used up their share of the round.
    pub(super) resting: Vec<ClientKey>,
    /// What may still be parsed in this round.
    pub(super) parses: ParseBudget,
    pub(super) arrivals: Arrivals,
    pub(super) unsent_clients: Vec<ClientKey>,
    pub(super) unsent_servers: Vec<ServerKey>,
    pub(super) cancels: Cancels,
    pub(super) secrets: Secrets,
    /// Clients that wait until there are fewer look-ups in databases that nobody knows, in their order.
    pub(super) strangers: VecDeque<ClientKey>,
    pub(super) paused: bool,
    pub(super) shutdown: Option<Shutdown>,
    pub(super) logins_failed: u64,
    pub(super) protocol_violations: u64,
}

impl Board {
    /// An empty board for `worker`.
    #[must_use]
    pub fn new(
        worker: usize,
        shared: Arc<Shared>,
        directory: Arc<Directory>,
        entropy: Box<dyn Entropy + Send>,
    ) -> Self {
        let mut profiles = Profiles::default();
        let blank = profiles.intern(Profile::default());
        let mut board = Self {
            worker,
            shared,
            parses: ParseBudget::of(&directory.limits),
            directory,
            now: 1,
            clients: Arena::default(),
            servers: Arena::default(),
            local_pools: LocalPools::default(),
            forgotten: Counters::default(),
            profiles,
            blank,
            entropy,
            actions: VecDeque::new(),
            due: VecDeque::new(),
            resting: Vec::new(),
            arrivals: Arrivals::default(),
            unsent_clients: Vec::new(),
            unsent_servers: Vec::new(),
            cancels: Cancels::default(),
            secrets: Secrets::default(),
            strangers: VecDeque::new(),
            paused: false,
            shutdown: None,
            logins_failed: 0,
            protocol_violations: 0,
        };
        board.meet_pools();
        board
    }

    /// Sets the time for all that follows: microseconds, never going back.
    pub fn set_now(&mut self, now: Micros) {
        self.now = now.max(1);
    }

    /// What the shell has to do next.
    pub fn next_action(&mut self) -> Option<Action> {
        debug_assert!(self.due.is_empty(), "{:?} was forgotten", self.due);
        self.actions.pop_front()
    }

    /// A client with unsent bytes, each once until more is added: see `client_unsent`.
    pub fn next_unsent_client(&mut self) -> Option<ClientKey> {
        let key = self.unsent_clients.pop()?;
        if let Some(client) = self.clients.get_mut(key) {
            client.outbox.listed = false;
        }
        Some(key)
    }

    /// A server with unsent bytes, each once until more is added: see `server_unsent`.
    pub fn next_unsent_server(&mut self) -> Option<ServerKey> {
        let key = self.unsent_servers.pop()?;
        if let Some(server) = self.servers.get_mut(key) {
            server.outbox.listed = false;
        }
        Some(key)
    }

    /// `kind` names what the warning is about: only a few of one kind are written in a time.
    pub(super) fn warn(&mut self, kind: &'static str, text: impl Into<String>) {
        self.actions.push_back(Action::Note(Note::Warning(kind, text.into())));
    }

    pub(super) fn debug(&mut self, text: impl Into<String>) {
        self.actions.push_back(Action::Note(Note::Debug(text.into())));
    }

    /// Puts a client on the list of those to write to, unless its output waits for more.
    pub(super) fn list_client(&mut self, key: ClientKey) {
        if let Some(client) = self.clients.get_mut(key)
            && !client.outbox.listed
            && !client.held
            && !client.outbox.is_empty()
        {
            client.outbox.listed = true;
            self.unsent_clients.push(key);
        }
    }

    pub(super) fn list_server(&mut self, key: ServerKey) {
        if let Some(server) = self.servers.get_mut(key)
            && !server.outbox.listed
            && !server.outbox.is_empty()
        {
            server.outbox.listed = true;
            self.unsent_servers.push(key);
        }
    }
}
