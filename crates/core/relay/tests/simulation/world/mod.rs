//! A run: boards, their shells, servers, clients and the network between them, all driven by one seed.

mod checks;
mod deeds;
mod ending;
mod network;
pub(crate) mod settings;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use trunkline_pool::PoolMode;
use trunkline_relay::board::{CancelTicket, Shutdown};
use trunkline_relay::prepared::Registry;
use trunkline_relay::{Board, Classes, Mail, Server, Shared};

use crate::model_client::ModelClient;
use crate::model_client::direct::Excuses;
use crate::model_server::Backend;
use crate::model_server::session::Database;
use crate::shell::{Link, Sockets};
use settings::{Edition, Flavour, Limits};

/// How many events are kept for the report of a failure.
const TRACE_MAX: usize = 4_000;

/// What one worker sends to another.
pub(crate) enum Letter {
    Mail(Mail),
    Server(Box<Server>, usize),
}

pub(crate) struct Worker {
    pub(crate) board: Board,
    pub(crate) sockets: Sockets,
    pub(crate) letters: VecDeque<Letter>,
    /// Something has happened since its actions were last carried out.
    pub(crate) dirty: bool,
}

/// A run.
pub(crate) struct World {
    pub(crate) flavour: Flavour,
    pub(crate) rng: fastrand::Rng,
    now: u64,
    pub(crate) steps: u64,
    pub(crate) shared: Arc<Shared>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) links: Vec<Link>,
    pub(crate) backends: BTreeMap<usize, Backend>,
    pub(crate) database: Database,
    pub(crate) clients: Vec<ModelClient>,
    /// Connections that carry a cancel request: the link, and the bytes that must still be sent.
    pub(crate) cancellers: Vec<(usize, Vec<u8>)>,
    /// Cancel keys of clients that have gone, for cancel requests that come too late.
    pub(crate) stale_keys: Vec<(i32, Vec<u8>)>,
    /// Connections that are being opened: the worker, its server connection and the port.
    pub(crate) dials: Vec<(usize, u64, u16)>,
    pub(crate) cancels: Vec<(usize, CancelTicket)>,
    /// Clients for which a cancel request with the right key was sent, so their slow queries may end. By the client's
    /// number.
    pub(crate) cancelled: BTreeMap<usize, usize>,
    next_client: usize,
    next_process: i32,
    /// The configuration in force, or on its way to the workers.
    pub(crate) edition: Edition,
    pub(crate) pool_size_max: u32,
    /// The loosest limits of all configurations so far.
    pub(crate) loosest: Limits,
    pub(crate) shutdown: Option<Shutdown>,
    pub(crate) paused: bool,
    quiescing: bool,
    pub(crate) trace: VecDeque<String>,
    pub(crate) answers: u64,
    /// The errors with which clients were refused, and how often.
    pub(crate) refusals: BTreeMap<String, u64>,
}

pub(crate) type Checked = Result<(), String>;

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let flavour = Flavour::draw(&mut rng);
        let shared = Arc::new(Shared::new(flavour.workers, Registry::new(1 << 16), Classes::new(1 << 16, 7)));
        let edition = flavour.edition();
        let directory = Arc::new(flavour.directory(&edition));
        let workers = (0..flavour.workers)
            .map(|worker| {
                let mut entropy = fastrand::Rng::with_seed(rng.u64(..));
                let fill = move |bytes: &mut [u8]| entropy.fill(bytes);
                let board = Board::new(worker, Arc::clone(&shared), Arc::clone(&directory), Box::new(fill));
                Worker { board, sockets: Sockets::default(), letters: VecDeque::new(), dirty: false }
            })
            .collect();
        let mut world = Self {
            pool_size_max: flavour.room_for_all(flavour.pool_size),
            flavour,
            rng,
            now: 1_000,
            steps: 0,
            shared,
            workers,
            links: Vec::new(),
            backends: BTreeMap::new(),
            database: Database::default(),
            clients: Vec::new(),
            cancellers: Vec::new(),
            stale_keys: Vec::new(),
            dials: Vec::new(),
            cancels: Vec::new(),
            cancelled: BTreeMap::new(),
            next_client: 0,
            next_process: 100,
            loosest: edition.limits,
            edition,
            shutdown: None,
            paused: false,
            quiescing: false,
            trace: VecDeque::new(),
            answers: 0,
            refusals: BTreeMap::new(),
        };
        world.set_now();
        world
    }

    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if self.trace.len() == TRACE_MAX {
            self.trace.pop_front();
        }
        let text = text();
        self.trace.push_back(format!("{:>6} {text}", self.steps));
    }

    pub(crate) fn excuses(&self) -> Excuses {
        Excuses {
            servers_die: self.flavour.servers_die,
            time_passes: self.flavour.time_passes,
            untracked: self.flavour.untracked,
            statement_mode: self.flavour.mode == PoolMode::Statement,
            limited: self.flavour.limits.any(),
            reloads: self.flavour.reloads,
            moved: self.flavour.moves,
            shutdown: self.shutdown,
            schema: self.database.schema,
        }
    }

    fn set_now(&mut self) {
        let now = self.now;
        self.workers.iter_mut().for_each(|worker| worker.board.set_now(now));
    }

    /// One random event.
    pub(crate) fn step(&mut self) -> Checked {
        self.steps += 1;
        self.now += self.rng.u64(1..30);
        self.set_now();
        match self.rng.u32(..1000) {
            0..200 => self.backend_works(),
            200..420 => self.proxy_reads(),
            420..480 => self.full_socket_drains(),
            480..500 => self.logins_go_on(),
            500..620 => self.client_reads()?,
            620..740 => self.client_sends(),
            740..800 => self.client_acts(),
            800..830 => self.dial_ends(),
            830..860 => self.cancel_comes()?,
            860..930 => self.letter_comes(),
            930..950 => self.slow_query_ends(),
            950..990 => self.carry_out_somewhere(),
            _ => self.rare_event(),
        }
        if self.steps.is_multiple_of(64) {
            self.check()?;
        }
        Ok(())
    }

    /// Runs `steps` events, then lets everything that is under way finish, and checks the result.
    pub(crate) fn run(&mut self, steps: u64) -> Checked {
        for _ in 0..steps {
            self.step()?;
        }
        self.finish_run()
    }
}
