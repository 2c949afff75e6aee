//! One worker's switchboard.
//!
//! Methods are of four kinds: `client_*` and `server_*` say what happened on a connection; `handle_mail` what
//! another worker said; [`Board::tick`] that time has passed; the rest is what the shell asks after each round:
//! [`Board::next_action`], [`Board::next_unsent_client`], [`Board::next_unsent_server`]. Time is an argument of
//! [`Board::set_now`], bytes are lent, sockets are behind [`Wires`](crate::Wires).

mod arrivals;
mod cancel;
mod checkout;
mod chores;
mod clients;
mod control;
mod due;
mod gate;
mod inspect;
mod janitor;
mod links;
mod login;
mod look_up;
mod owed;
mod pools;
mod refusal;
mod resets;
mod secrets;
mod servers;
mod slot_table;
mod slots;
mod status;
mod welcomes;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use trunkline_pool::arena::Arena;
use trunkline_pool::{Ledger, Ledgers, Micros, PoolId};
use trunkline_session::Entropy;

pub use arrivals::{
    ACCEPTS_MAX, ARRIVALS_MICROS_MAX, CLOSE_COMPANY, LOGIN_STEPS_MAX, LOGINS_WAITING_MAX, ROUNDS_PUT_OFF_MAX,
};
pub use cancel::{CancelKeys, CancelTicket};
pub use control::Shutdown;
pub(crate) use look_up::LookUp;
pub use slots::{NAMELESS, PoolStatus};
pub use status::BoardStatus;
pub(crate) use welcomes::Welcome;

use crate::client::Client;
use crate::counters::Counters;
use crate::directory::{Directory, Target};
use crate::parameters::{Profile, Profiles};
use crate::prepared::{Registry, Schemas};
use crate::server::Server;
use crate::{ClientKey, ServerKey};
use slot_table::SlotTable;

/// What all workers of a process share.
#[derive(Debug)]
pub struct Shared {
    /// Who holds how many server connections.
    pub ledgers: Ledgers,
    /// Prepared statements.
    pub registry: Registry,
    /// Databases whose definitions change.
    pub schemas: Schemas,
    /// What servers say of themselves.
    pub(crate) welcomes: welcomes::Welcomes,
    /// Who may be cancelled by what key.
    pub cancel_keys: CancelKeys,
    /// Client connections.
    pub clients: AtomicU32,
    /// Those that have not logged in yet.
    pub unauthenticated: AtomicU32,
    /// Look-ups in databases that are not known to exist.
    pub(crate) unproven: gate::Gate,
    /// Clients of each worker, those on their way to it included.
    pub(crate) seats: Box<[AtomicU32]>,
    /// The last process id given to a client.
    pub(crate) process_ids: AtomicI32,
    /// Bounds that turned somebody away, by name; see [`Shared::limits_hit`].
    pub(crate) limits_hit: [AtomicU64; refusal::BOUNDS.len()],
}

impl Shared {
    /// For `workers` workers; the registry keeps `registry_bytes_max` of statements that no client holds.
    #[must_use]
    pub fn new(workers: usize, registry_bytes_max: usize) -> Self {
        Self {
            ledgers: Ledgers::new(workers),
            registry: Registry::new(registry_bytes_max),
            schemas: Schemas::default(),
            welcomes: welcomes::Welcomes::default(),
            cancel_keys: CancelKeys::default(),
            clients: AtomicU32::new(0),
            unauthenticated: AtomicU32::new(0),
            unproven: gate::Gate::default(),
            seats: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            process_ids: AtomicI32::new(cancel::FIRST_PROCESS_ID),
            limits_hit: Default::default(),
        }
    }
}

/// What the shell has to do.
#[derive(Debug)]
pub enum Action {
    /// Dial; report with `server_connected` or `server_closed`.
    Connect(ServerKey, Arc<Target>),
    /// Write what is pending, then establish TLS as the server; report with `client_tls_started`. Bytes in the inbox
    /// (`take_client_inbox`) belong to TLS.
    ClientTls(ClientKey),
    /// Write what is pending, then establish TLS as the client; report with `server_tls_started`.
    ServerTls(ServerKey, Arc<Target>),
    /// Close the socket, once what is pending was written as far as it can be at once.
    CloseClient(ClientKey, Vec<u8>),
    /// Close the socket, after writing what is given as far as it can be at once.
    CloseServer(ServerKey, Vec<u8>),
    /// Reading may go on.
    ResumeClient(ClientKey),
    /// Reading may go on.
    ResumeServer(ServerKey),
    /// Deliver a cancel request on a connection of its own; report with `cancel_delivered`.
    Cancel(CancelTicket),
    /// Hand the socket and the connection to another worker: `server_arrived` there.
    Handoff(usize, ServerKey, Box<Server>),
    /// Tell another worker.
    Mail(usize, Mail),
    /// Tell the operator.
    Note(Note),
}

/// Something for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Worth a look: its kind, of which many may come in a row, and the text.
    Warning(&'static str, String),
    /// Of interest to who looks for something.
    Debug(String),
}

/// What workers tell each other.
#[derive(Debug)]
pub enum Mail {
    /// A worker's clients wait and this one has an idle connection: the pool and that worker.
    Starving(PoolId, usize),
    /// A pool cannot grow because its database or user is at its limit: close an idle connection of another pool of
    /// theirs. You may not have met that pool: here is its account.
    Evict(Arc<Ledger>),
    /// A place in that pool or under its limits came free, or an idle connection that can be closed for one: for who
    /// waits in it, or in other pools of its database or user.
    Vacancy(Arc<Ledger>),
    /// Cancel what this client of yours runs: its key, who asked (a worker and its client).
    Cancel(ClientKey, usize, ClientKey),
    /// The cancel that this client of yours asked for was delivered.
    Cancelled(ClientKey),
    /// New settings.
    Reload(Arc<Directory>),
    /// Hold all turns back, or no longer.
    Pause(bool),
    /// Come to an end.
    Shutdown(Shutdown),
}

/// One worker's switchboard. See the module.
pub struct Board {
    worker: usize,
    shared: Arc<Shared>,
    directory: Arc<Directory>,
    now: Micros,
    clients: Arena<Client>,
    servers: Arena<Server>,
    /// Pools that this worker has met and not forgotten.
    slots: SlotTable,
    /// What pools have counted that are forgotten, or have no name.
    forgotten: Counters,
    profiles: Profiles,
    blank: Arc<Profile>,
    entropy: Box<dyn Entropy + Send>,
    actions: VecDeque<Action>,
    /// See `due.rs`: empty whenever the shell has its turn.
    due: VecDeque<due::Due>,
    /// Whose share of the round is used up.
    resting: Vec<ClientKey>,
    arrivals: arrivals::Arrivals,
    unsent_clients: Vec<ClientKey>,
    unsent_servers: Vec<ServerKey>,
    cancels: cancel::Cancels,
    secrets: secrets::Secrets,
    /// Clients that wait until there are fewer look-ups in databases that nobody knows, in their order.
    strangers: VecDeque<ClientKey>,
    paused: bool,
    shutdown: Option<Shutdown>,
    logins_failed: u64,
    protocol_violations: u64,
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
            directory,
            now: 1,
            clients: Arena::default(),
            servers: Arena::default(),
            slots: SlotTable::default(),
            forgotten: Counters::default(),
            profiles,
            blank,
            entropy,
            actions: VecDeque::new(),
            due: VecDeque::new(),
            resting: Vec::new(),
            arrivals: arrivals::Arrivals::default(),
            unsent_clients: Vec::new(),
            unsent_servers: Vec::new(),
            cancels: cancel::Cancels::default(),
            secrets: secrets::Secrets::default(),
            strangers: VecDeque::new(),
            paused: false,
            shutdown: None,
            logins_failed: 0,
            protocol_violations: 0,
        };
        board.meet_pools();
        board
    }

    /// The moment at which everything that follows happens: microseconds, never going back.
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

    /// `kind` names what the warning is about: of one kind only so many are written in a time.
    fn warn(&mut self, kind: &'static str, text: impl Into<String>) {
        self.actions.push_back(Action::Note(Note::Warning(kind, text.into())));
    }

    fn debug(&mut self, text: impl Into<String>) {
        self.actions.push_back(Action::Note(Note::Debug(text.into())));
    }

    /// Puts a client on the list of those to write to, unless its output waits for more.
    fn list_client(&mut self, key: ClientKey) {
        if let Some(client) = self.clients.get_mut(key)
            && !client.outbox.listed
            && !client.held
            && !client.outbox.is_empty()
        {
            client.outbox.listed = true;
            self.unsent_clients.push(key);
        }
    }

    fn list_server(&mut self, key: ServerKey) {
        if let Some(server) = self.servers.get_mut(key)
            && !server.outbox.listed
            && !server.outbox.is_empty()
        {
            server.outbox.listed = true;
            self.unsent_servers.push(key);
        }
    }
}
