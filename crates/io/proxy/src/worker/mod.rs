//! A worker: one thread, one event loop around a board.
//!
//! A round reads whatever is ready (servers before clients: what they bring frees connections for the others; clients
//! that are in before those that come in), lets the board decide, does what it asks, and writes what an event brought
//! about with one call for each connection.

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

/// Events taken from the kernel in one round: enough to spare system calls, few enough that the first answers of a
/// round do not wait long for the last.
const EVENTS_MAX: usize = 256;

/// Bytes read from a decrypted socket at once. A large result comes in runs of this.
const SCRATCH_BYTES: usize = 128 * 1024;

/// Between two looks at the clock-driven work. Timeouts are kept to within this.
const TICK: Duration = Duration::from_millis(100);

/// A listening socket of one worker.
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A unix socket.
    Unix(UnixListener),
}

/// What a worker is made of.
pub struct WorkerSetup {
    /// Its number, from 0.
    pub index: usize,
    /// What all workers share.
    pub shared: Arc<Shared>,
    /// The settings to begin with.
    pub directory: Arc<Directory>,
    /// The certificates to begin with.
    pub tls: Arc<TlsSet>,
    /// Its own listening sockets.
    pub listeners: Vec<Listener>,
    /// Probes of idle TCP connections.
    pub keepalive: Option<Keepalive>,
    /// How long the addresses of a host name are believed.
    pub dns_ttl: Duration,
    /// When the process's clock began: workers compare how long their clients wait.
    pub started: Instant,
}

/// See the module.
pub struct Worker {
    poll: Poll,
    events: Events,
    board: Board,
    sockets: Sockets,
    directory: Arc<Directory>,
    tls: Arc<TlsSet>,
    listeners: Vec<Listener>,
    /// Listeners that may have somebody to accept, each once.
    ready_listeners: Vec<usize>,
    /// Listeners that could not be accepted from: tried again with the next tick.
    failed_listeners: Vec<usize>,
    messages: Receiver<WorkerMessage>,
    peers: Vec<Mailbox>,
    resolver: Resolver,
    dialling: dialling::Dialling,
    cancels: cancels::Cancels,
    lingering: linger::Lingering,
    /// Connections with more to read than one round took.
    unfinished: Vec<token::Source>,
    scratch: Box<[u8]>,
    decrypted: Vec<u8>,
    started: Instant,
    clock: clock::Clock,
    /// The clock has ticked in this round.
    ticked: bool,
}

/// Randomness of the operating system.
struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        rand::Rng::fill_bytes(&mut rand::rng(), bytes);
    }
}

impl Worker {
    /// A worker that has not begun, and where its messages go in.
    ///
    /// # Errors
    /// What the operating system says to a poll, a waker or a registration.
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

    /// Serves until the board says that it is over. `peers`: all workers' mailboxes, by their numbers.
    pub fn run(mut self, peers: Vec<Mailbox>) {
        self.peers = peers;
        while !self.board.is_over() {
            self.round();
        }
        // The last words of a shutdown.
        self.carry_out();
    }

    fn round(&mut self) {
        // No timeout when there is nothing to go on with: the clock has a descriptor of its own, which spares arming a
        // timer each time the worker sleeps.
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
        // Servers first: what they bring frees connections for the clients.
        for clients in [false, true] {
            for event in &events {
                let source = token::source(event.token());
                if (source.kind == Kind::Client) == clients {
                    self.handle_event(source, event);
                    // At once: the worker that gets it works on while the rest of the round is dealt with.
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

    /// Microseconds since the start, now and not at the beginning of the round.
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
        crate::logging::tend();
        self.carry_out();
    }
}
