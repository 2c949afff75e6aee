//! A worker: one thread with an event loop around a board.
//!
//! A round reads from every connection that is ready, lets the board decide, and performs the board's actions. It reads
//! servers before clients, because answers of servers free connections for clients. It reads clients that are logged in
//! before logins and new connections. After each event it writes to each connection with one system call.

mod arrivals;
mod cancels;
mod clock;
mod dialling;
mod linger;
mod mailbox;
mod rounds;
mod socket;
mod sockets;
mod tls;
mod token;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, UnixListener};
use mio::{Events, Interest, Poll, Waker};
use trunkline_net::resolve::Resolver;
use trunkline_net::stream::Keepalive;
use trunkline_relay::{Board, Directory, Shared};
use trunkline_session::Entropy;

pub use mailbox::{Mailbox, Report, WorkerMessage};
pub use socket::Socket;
pub use tls::TlsSet;

use sockets::Sockets;
use token::Kind;

/// Most events that one round takes from the kernel: enough to save system calls, but few enough for short rounds.
const EVENTS_MAX: usize = 256;

/// Most bytes that are read at once from a socket without TLS. A large result comes in pieces of this size.
const SCRATCH_BYTES: usize = 128 * 1024;

/// The interval of the work that time causes. It is the precision of timeouts.
const TICK: Duration = Duration::from_millis(100);

/// A listening socket of one worker.
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A unix socket.
    Unix(UnixListener),
}

/// What a worker needs to start.
pub struct WorkerSetup {
    /// The worker's number, from 0.
    pub index: usize,
    /// What all workers share.
    pub shared: Arc<Shared>,
    /// The settings at the start.
    pub directory: Arc<Directory>,
    /// The certificates at the start.
    pub tls: Arc<TlsSet>,
    /// The worker's listening sockets.
    pub listeners: Vec<Listener>,
    /// How the kernel probes idle TCP connections; `None`: not at all.
    pub keepalive: Option<Keepalive>,
    /// How long looked-up addresses of a host name are used.
    pub dns_ttl: Duration,
    /// Time zero of the process. All workers use the same one, because they compare how long their clients wait.
    pub started: Instant,
}

/// One worker. See the module.
pub struct Worker {
    poll: Poll,
    events: Events,
    board: Board,
    sockets: Sockets,
    directory: Arc<Directory>,
    tls: Arc<TlsSet>,
    listeners: Vec<Listener>,
    /// Listeners at which a connection may wait, each listed once.
    ready_listeners: Vec<usize>,
    /// Listeners whose last accept failed. The next tick tries them again.
    failed_listeners: Vec<usize>,
    messages: Receiver<WorkerMessage>,
    peers: Vec<Mailbox>,
    resolver: Resolver,
    dialling: dialling::Dialling,
    cancels: cancels::Cancels,
    lingering: linger::Lingering,
    /// Connections that may have more to read than one round took.
    unfinished: Vec<token::Source>,
    scratch: Box<[u8]>,
    decrypted: Vec<u8>,
    started: Instant,
    clock: clock::Clock,
    /// Whether the clock has ticked in this round.
    ticked: bool,
}

/// Random bytes from the operating system's generator.
struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        rand::Rng::fill_bytes(&mut rand::rng(), bytes);
    }
}

impl Worker {
    /// A worker that does not run yet, and its mailbox.
    ///
    /// # Errors
    /// The operating system refuses a poll, a waker or a registration.
    pub fn new(setup: WorkerSetup) -> io::Result<(Self, Mailbox)> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), token::WAKER)?);
        let clock = clock::Clock::start(TICK, poll.registry())?;
        let (mailbox, messages) = Mailbox::new(Arc::clone(&waker));
        let mut listeners = setup.listeners;
        for (index, listener) in listeners.iter_mut().enumerate() {
            let token = token::listener(index);
            match listener {
                Listener::Tcp(listener) => poll.registry().register(listener, token, Interest::READABLE)?,
                Listener::Unix(listener) => poll.registry().register(listener, token, Interest::READABLE)?,
            }
        }
        let resolver = Resolver::start(
            setup.dns_ttl,
            Box::new(move || {
                if let Err(error) = waker.wake() {
                    tracing::warn!("cannot wake a worker: {error}");
                }
            }),
        )?;
        let board =
            Board::new(setup.index, setup.shared, Arc::clone(&setup.directory), Box::new(SystemEntropy));
        let registry = poll.registry().try_clone()?;
        let worker = Self {
            poll,
            events: Events::with_capacity(EVENTS_MAX),
            board,
            sockets: Sockets::new(registry, setup.keepalive),
            directory: setup.directory,
            tls: setup.tls,
            listeners,
            ready_listeners: Vec::new(),
            failed_listeners: Vec::new(),
            messages,
            peers: Vec::new(),
            resolver,
            dialling: dialling::Dialling::default(),
            cancels: cancels::Cancels::default(),
            lingering: linger::Lingering::default(),
            unfinished: Vec::new(),
            scratch: vec![0; SCRATCH_BYTES].into_boxed_slice(),
            decrypted: Vec::new(),
            started: setup.started,
            clock,
            ticked: false,
        };
        Ok((worker, mailbox))
    }

    /// Runs until the board says that it is over. `peers`: the mailboxes of all workers, in the order of their numbers.
    pub fn run(mut self, peers: Vec<Mailbox>) {
        self.peers = peers;
        while !self.board.is_over() {
            self.round();
        }
        // The last messages of a shutdown.
        self.carry_out();
    }

    fn round(&mut self) {
        // Without unfinished work there is no timeout. The clock wakes the poll by a descriptor of its own, so the kernel
        // need not arm a timer each time the worker sleeps.
        let busy = !self.unfinished.is_empty()
            || !self.ready_listeners.is_empty()
            || self.board.is_round_due()
            || self.board.logins_waiting() > 0;
        let wait = busy.then_some(Duration::ZERO);
        let mut events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        if let Err(error) = self.poll.poll(&mut events, wait)
            && error.kind() != io::ErrorKind::Interrupted
        {
            tracing::error!("polling failed: {error}");
        }
        let now = Instant::now();
        self.board.set_now(self.micros(now));
        let unfinished = std::mem::take(&mut self.unfinished);
        // Servers first, because their answers free connections for clients.
        for clients in [false, true] {
            for event in &events {
                let source = token::source(event.token());
                if (source.kind == Kind::Client) == clients {
                    self.handle_event(source, event);
                    // At once, so that another worker that gets a connection or message can go on during this round.
                    self.carry_out();
                }
            }
        }
        self.board.next_round();
        for source in unfinished {
            self.read_unless_logging_in(source);
        }
        let more = events.iter().count() >= EVENTS_MAX;
        self.events = events;
        self.carry_out();
        self.handle_arrivals(more);
        if std::mem::take(&mut self.ticked) {
            self.tick();
        }
    }

    /// Microseconds since the start at this moment. (The board's time is that of the beginning of the round.)
    fn micros_now(&self) -> u64 {
        self.micros(Instant::now())
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.duration_since(self.started).as_micros()).unwrap_or(u64::MAX).max(1)
    }

    fn tick(&mut self) {
        self.board.tick();
        self.expire_cancels();
        self.lingering.expire();
        for listener in std::mem::take(&mut self.failed_listeners) {
            self.accept_later(listener);
        }
        crate::logging::report_left_out_lines();
        self.carry_out();
    }
}
