//! The fields of a board, and what the shell asks it after each event.

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

/// The state and the decisions of one worker; see the module.
pub struct Board {
    pub(super) worker: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) directory: Arc<Directory>,
    pub(super) now: Micros,
    pub(super) clients: Arena<Client, Clients>,
    pub(super) servers: Arena<Server, Servers>,
    /// The pools of which this worker has a part.
    pub(super) local_pools: LocalPools,
    /// The counts of pools that are forgotten, or that metrics do not show by name.
    pub(super) forgotten_counters: Counters,
    pub(super) profiles: Profiles,
    pub(super) empty_profile: Arc<Profile>,
    pub(super) entropy: Box<dyn Entropy + Send>,
    pub(super) actions: VecDeque<Action>,
    /// Tasks that an event has caused for other connections; see `due.rs`. Empty between events.
    pub(super) due: VecDeque<Due>,
    /// Clients that have used up their share of the round.
    pub(super) waiting_for_next_round: Vec<ClientKey>,
    /// How many bytes of SQL may still be parsed in this round.
    pub(super) parse_budget: ParseBudget,
    pub(super) arrivals: Arrivals,
    pub(super) unsent_clients: Vec<ClientKey>,
    pub(super) unsent_servers: Vec<ServerKey>,
    pub(super) cancels: Cancels,
    pub(super) secrets: Secrets,
    /// Clients that wait for a permit to look up their user in a database that is not known to exist; the first has waited
    /// longest.
    pub(super) waiting_for_permit: VecDeque<ClientKey>,
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
        let empty_profile = profiles.intern(Profile::default());
        let mut board = Self {
            worker,
            shared,
            parse_budget: ParseBudget::of(&directory.limits),
            directory,
            now: 1,
            clients: Arena::default(),
            servers: Arena::default(),
            local_pools: LocalPools::default(),
            forgotten_counters: Counters::default(),
            profiles,
            empty_profile,
            entropy,
            actions: VecDeque::new(),
            due: VecDeque::new(),
            waiting_for_next_round: Vec::new(),
            arrivals: Arrivals::default(),
            unsent_clients: Vec::new(),
            unsent_servers: Vec::new(),
            cancels: Cancels::default(),
            secrets: Secrets::default(),
            waiting_for_permit: VecDeque::new(),
            paused: false,
            shutdown: None,
            logins_failed: 0,
            protocol_violations: 0,
        };
        board.make_configured_pools();
        board
    }

    /// Sets the time, in microseconds, for the following calls. It must never go back.
    pub fn set_now(&mut self, now: Micros) {
        self.now = now.max(1);
    }

    /// What the shell has to do next.
    pub fn next_action(&mut self) -> Option<Action> {
        debug_assert!(self.due.is_empty(), "these tasks were not run: {:?}", self.due);
        self.actions.pop_front()
    }

    /// Takes a client off the list of clients with unsent bytes ([`Board::client_unsent`]). It comes onto the list again when
    /// more bytes are added.
    pub fn next_unsent_client(&mut self) -> Option<ClientKey> {
        let key = self.unsent_clients.pop()?;
        if let Some(client) = self.clients.get_mut(key) {
            client.outbox.listed = false;
        }
        Some(key)
    }

    /// Takes a server connection off the list of those with unsent bytes ([`Board::server_unsent`]). It comes onto the list
    /// again when more bytes are added.
    pub fn next_unsent_server(&mut self) -> Option<ServerKey> {
        let key = self.unsent_servers.pop()?;
        if let Some(server) = self.servers.get_mut(key) {
            server.outbox.listed = false;
        }
        Some(key)
    }

    /// Logs a warning. `kind` is the same for all warnings of one kind: of each kind, only a limited number is written per
    /// time.
    pub(super) fn warn(&mut self, kind: &'static str, text: impl Into<String>) {
        self.actions.push_back(Action::Note(Note::Warning(kind, text.into())));
    }

    pub(super) fn debug(&mut self, text: impl Into<String>) {
        self.actions.push_back(Action::Note(Note::Debug(text.into())));
    }

    /// Puts a client on the list of clients with unsent bytes, unless its output is held back until more answers have come.
    pub(super) fn list_unsent_client(&mut self, key: ClientKey) {
        if let Some(client) = self.clients.get_mut(key)
            && !client.outbox.listed
            && !client.output_held
            && !client.outbox.is_empty()
        {
            client.outbox.listed = true;
            self.unsent_clients.push(key);
        }
    }

    pub(super) fn list_unsent_server(&mut self, key: ServerKey) {
        if let Some(server) = self.servers.get_mut(key)
            && !server.outbox.listed
            && !server.outbox.is_empty()
        {
            server.outbox.listed = true;
            self.unsent_servers.push(key);
        }
    }
}
