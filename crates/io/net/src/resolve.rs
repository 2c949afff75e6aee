//! Host names to addresses, on a thread of its own.
//!
//! The system's lookup (getaddrinfo: hosts file, search domains, nsswitch and all) is what an operator expects, and it blocks. So one
//! thread asks, one name after another, and a worker's loop is woken when there is an answer. Answers
//! are cached, and everybody who asks for a name on its way shares one lookup.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

/// Most names that wait for the thread. Names come from the configuration, so a full queue means a dead
/// name server, not a large installation.
pub const QUEUED_NAMES_MAX: usize = 256;

/// Most callers that wait for a name at the same time.
pub const WAITING_TOKENS_MAX: usize = 65_536;

/// Most names whose answers are kept.
pub const CACHED_NAMES_MAX: usize = 1_024;

/// How long a failure is believed, at most: long enough to spare a name server that is down a storm, short enough
/// that a server which comes up is found at once.
pub const NEGATIVE_TTL_MAX: Duration = Duration::from_secs(1);

/// Addresses of one host in the order the system prefers them (RFC 6724), never empty.
pub type Addresses = Arc<[IpAddr]>;

/// Why a name has no addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolveError {
    /// The system's lookup said no.
    Failed {
        /// The name asked for.
        host: Arc<str>,
        /// What the system said.
        reason: Arc<str>,
    },
    /// [`QUEUED_NAMES_MAX`] or [`WAITING_TOKENS_MAX`] is reached.
    QueueFull {
        /// The name asked for.
        host: Arc<str>,
    },
    /// The thread is gone; only the end of the process does that.
    Stopped,
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { host, reason } => write!(f, "cannot resolve host name \"{host}\": {reason}"),
            Self::QueueFull { host } => {
                write!(
                    f,
                    "cannot resolve host name \"{host}\": too many lookups wait already; is the name server down?"
                )
            }
            Self::Stopped => f.write_str("the resolver has stopped"),
        }
    }
}

impl std::error::Error for ResolveError {}

/// What [`Resolver::resolve`] knows at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The answer: a literal address, or from the cache. No [`Resolved`] will follow.
    Known(Result<Addresses, ResolveError>),
    /// The answer comes through [`Resolver::try_recv`], under the caller's token.
    Pending,
}

/// An answer that was waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The token [`Resolver::resolve`] was called with.
    pub token: u64,
    /// The addresses, or why there are none.
    pub addresses: Result<Addresses, ResolveError>,
}

/// One thread's worth of name lookups, owned by one event loop.
///
/// Call [`resolve`](Self::resolve); when `notify` has been called, call [`try_recv`](Self::try_recv) until
/// it returns `None`. Dropping it ends the thread once the lookup it is in comes back.
#[derive(Debug)]
pub struct Resolver {
    requests: SyncSender<Arc<str>>,
    answers: Receiver<Answer>,
    cache: HashMap<Arc<str>, Cached>,
    /// Who waits for which name. A name is here exactly as long as the thread owes its answer.
    waiting: HashMap<Arc<str>, Vec<u64>>,
    waiting_count: usize,
    ready: VecDeque<Resolved>,
    cache_ttl: Duration,
}

#[derive(Debug)]
struct Cached {
    addresses: Result<Addresses, ResolveError>,
    expires: Instant,
}

#[derive(Debug)]
struct Answer {
    host: Arc<str>,
    addresses: Result<Addresses, ResolveError>,
}

type LookupFunction = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send;

impl Resolver {
    /// Starts the thread. `notify` is called on it after each answer, to wake the loop (mio's `Waker` fits).
    ///
    /// A `cache_ttl` of zero keeps nothing. The system's lookup does not tell a record's own time to live.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(cache_ttl: Duration, notify: Box<dyn Fn() + Send>) -> io::Result<Self> {
        Self::start_with(cache_ttl, notify, Box::new(system_lookup))
    }

    fn start_with(
        cache_ttl: Duration,
        notify: Box<dyn Fn() + Send>,
        lookup: Box<LookupFunction>,
    ) -> io::Result<Self> {
        let (requests, asked) = mpsc::sync_channel(QUEUED_NAMES_MAX);
        // Without a bound of its own: there is at most one answer for each name that `waiting` holds.
        let (answer, answers) = mpsc::channel();
        thread::Builder::new()
            .name("trunkline-dns".to_owned())
            .spawn(move || answer_each(&asked, &answer, &*lookup, &*notify))?;
        Ok(Self {
            requests,
            answers,
            cache: HashMap::new(),
            waiting: HashMap::new(),
            waiting_count: 0,
            ready: VecDeque::new(),
            cache_ttl,
        })
    }

    /// Asks for a host's addresses. Never blocks.
    pub fn resolve(&mut self, host: &str, token: u64) -> Lookup {
        if let Ok(literal) = host.parse::<IpAddr>() {
            return Lookup::Known(Ok([literal].into()));
        }
        if let Some(cached) = self.cache.get(host) {
            if Instant::now() < cached.expires {
                return Lookup::Known(cached.addresses.clone());
            }
            self.cache.remove(host);
        }
        if self.waiting_count >= WAITING_TOKENS_MAX {
            return Lookup::Known(Err(ResolveError::QueueFull { host: host.into() }));
        }
        if let Some(tokens) = self.waiting.get_mut(host) {
            tokens.push(token);
            self.waiting_count += 1;
            return Lookup::Pending;
        }
        let host: Arc<str> = host.into();
        match self.requests.try_send(Arc::clone(&host)) {
            Ok(()) => {
                self.waiting.insert(host, vec![token]);
                self.waiting_count += 1;
                Lookup::Pending
            }
            Err(TrySendError::Full(host)) => Lookup::Known(Err(ResolveError::QueueFull { host })),
            Err(TrySendError::Disconnected(_)) => Lookup::Known(Err(ResolveError::Stopped)),
        }
    }

    /// The next answer, `None` when there is none yet.
    pub fn try_recv(&mut self) -> Option<Resolved> {
        while self.ready.is_empty() {
            let answer = self.answers.try_recv().ok()?;
            self.take_answer(answer);
        }
        self.ready.pop_front()
    }

    /// Forgets every cached answer, so that the next question is asked anew. Reload and RECONNECT want that.
    pub fn forget(&mut self) {
        self.cache.clear();
    }

    fn take_answer(&mut self, answer: Answer) {
        let tokens = self.waiting.remove(&answer.host).unwrap_or_default();
        self.waiting_count -= tokens.len();
        for token in tokens {
            self.ready.push_back(Resolved { token, addresses: answer.addresses.clone() });
        }
        let ttl = match answer.addresses {
            Ok(_) => self.cache_ttl,
            Err(_) => self.cache_ttl.min(NEGATIVE_TTL_MAX),
        };
        if ttl.is_zero() {
            return;
        }
        let now = Instant::now();
        if self.cache.len() >= CACHED_NAMES_MAX {
            self.cache.retain(|_, cached| now < cached.expires);
        }
        if self.cache.len() < CACHED_NAMES_MAX {
            self.cache.insert(answer.host, Cached { addresses: answer.addresses, expires: now + ttl });
        }
    }
}

/// The thread: ends when the [`Resolver`] is dropped.
fn answer_each(
    asked: &Receiver<Arc<str>>,
    answer: &Sender<Answer>,
    lookup: &LookupFunction,
    notify: &dyn Fn(),
) {
    while let Ok(host) = asked.recv() {
        let failed = |reason: String| ResolveError::Failed { host: Arc::clone(&host), reason: reason.into() };
        let addresses = match lookup(&host) {
            Ok(found) if found.is_empty() => Err(failed("it has no addresses".to_owned())),
            Ok(found) => Ok(found.into()),
            Err(error) => Err(failed(error.to_string())),
        };
        if answer.send(Answer { host, addresses }).is_err() {
            return;
        }
        notify();
    }
}

fn system_lookup(host: &str) -> io::Result<Vec<IpAddr>> {
    let mut found: Vec<IpAddr> = Vec::new();
    for address in (host, 0).to_socket_addrs()?.map(|address: SocketAddr| address.ip()) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    Ok(found)
}
