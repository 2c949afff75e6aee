//! Host names to addresses, on a thread of its own.
//!
//! The system's lookup (getaddrinfo: hosts file, search domains, nsswitch and all) is what an operator
//! expects, and it blocks. So one thread asks, one name after another, and a worker's loop is woken when
//! there is an answer. Answers are cached, and callers that ask for the same name share one lookup.

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

/// How long a failure is believed, at most: long enough to spare a name server that is down a storm, short
/// enough that a server which comes up is found at once.
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
    /// Which callers wait for which name. A name is here exactly as long as the thread owes its answer.
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

    /// Forgets every cached answer, so that the next question is asked again. Reload and RECONNECT want that.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A resolver whose lookups wait to be let go, and which writes down what it was asked.
    struct Held {
        resolver: Resolver,
        let_go: Sender<io::Result<Vec<IpAddr>>>,
        notified: Receiver<()>,
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Held {
        fn new(cache_ttl: Duration) -> Self {
            let (let_go, held) = mpsc::channel();
            let (notify, notified) = mpsc::channel();
            let asked: Arc<Mutex<Vec<String>>> = Arc::default();
            let writes = Arc::clone(&asked);
            let lookup = move |host: &str| {
                writes.lock().expect("not poisoned").push(host.to_owned());
                held.recv().expect("the test lets it go")
            };
            let notify = Box::new(move || notify.send(()).expect("the test listens"));
            let resolver = Resolver::start_with(cache_ttl, notify, Box::new(lookup)).expect("a thread");
            Self { resolver, let_go, notified, asked }
        }

        fn answer(&mut self, answer: io::Result<Vec<IpAddr>>) {
            self.let_go.send(answer).expect("the thread listens");
            self.notified.recv().expect("the thread notifies");
        }

        fn asked(&self) -> usize {
            self.asked.lock().expect("not poisoned").len()
        }
    }

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn literal_addresses_need_no_lookup() {
        let mut held = Held::new(Duration::from_secs(60));
        for literal in ["192.0.2.1", "2001:db8::1"] {
            let address: IpAddr = literal.parse().expect("an address");
            assert_eq!(held.resolver.resolve(literal, 1), Lookup::Known(Ok([address].into())));
        }
        assert_eq!(held.asked(), 0);
    }

    #[test]
    fn callers_of_one_name_share_a_lookup_and_then_the_cache() {
        let mut held = Held::new(Duration::from_secs(60));
        assert_eq!(held.resolver.resolve("db.example", 1), Lookup::Pending);
        assert_eq!(held.resolver.resolve("db.example", 2), Lookup::Pending);
        assert_eq!(held.resolver.try_recv(), None);
        held.answer(Ok(vec![ADDRESS]));
        for token in [1, 2] {
            let resolved = held.resolver.try_recv().expect("an answer");
            assert_eq!(resolved, Resolved { token, addresses: Ok([ADDRESS].into()) });
        }
        assert_eq!(held.resolver.try_recv(), None);
        assert_eq!(held.resolver.resolve("db.example", 3), Lookup::Known(Ok([ADDRESS].into())));
        assert_eq!(held.asked(), 1);
        held.resolver.forget();
        assert_eq!(held.resolver.resolve("db.example", 4), Lookup::Pending);
        held.answer(Ok(vec![ADDRESS]));
        assert_eq!(held.resolver.try_recv().expect("an answer").token, 4);
        assert_eq!(held.asked(), 2);
    }

    #[test]
    fn answers_and_failures_expire() {
        let mut held = Held::new(Duration::from_secs(60));
        held.resolver.resolve("db.example", 1);
        held.answer(Err(io::Error::other("no such host")));
        let error = held.resolver.try_recv().expect("an answer").addresses.expect_err("failed");
        assert_eq!(error.to_string(), "cannot resolve host name \"db.example\": no such host");
        assert_eq!(
            held.resolver.resolve("db.example", 2),
            Lookup::Known(Err(error)),
            "believed for a moment"
        );
        let cached = &held.resolver.cache["db.example"];
        assert!(cached.expires <= Instant::now() + NEGATIVE_TTL_MAX, "but no longer than that");
        held.resolver.cache.get_mut("db.example").expect("cached").expires = Instant::now();
        assert_eq!(held.resolver.resolve("db.example", 3), Lookup::Pending, "expired");
        held.answer(Ok(Vec::new()));
        let error = held.resolver.try_recv().expect("an answer").addresses.expect_err("empty");
        assert!(error.to_string().contains("no addresses"), "{error}");

        let mut uncached = Held::new(Duration::ZERO);
        for token in 0..3 {
            assert_eq!(uncached.resolver.resolve("db.example", token), Lookup::Pending);
            uncached.answer(Ok(vec![ADDRESS]));
            assert_eq!(uncached.resolver.try_recv().expect("an answer").token, token);
        }
    }

    #[test]
    fn the_queue_and_the_cache_are_bounded() {
        let mut held = Held::new(Duration::from_secs(60));
        // One may be in the thread's hands already, and leave room for another.
        let refused = (0..QUEUED_NAMES_MAX + 2)
            .filter(|n| {
                let lookup = held.resolver.resolve(&format!("host{n}.example"), *n as u64);
                matches!(lookup, Lookup::Known(Err(ResolveError::QueueFull { .. })))
            })
            .count();
        assert!((1..=2).contains(&refused), "{refused}");
        for _ in 0..QUEUED_NAMES_MAX + 2 - refused {
            held.answer(Ok(vec![ADDRESS]));
        }
        let answered = std::iter::from_fn(|| held.resolver.try_recv()).count();
        assert_eq!(answered, QUEUED_NAMES_MAX + 2 - refused);
        assert_eq!(held.resolver.waiting_count, 0);
        for n in 0..CACHED_NAMES_MAX + 10 {
            held.resolver.resolve(&format!("more{n}.example"), 0);
            held.answer(Ok(vec![ADDRESS]));
            assert!(held.resolver.try_recv().is_some());
        }
        assert!(held.resolver.cache.len() <= CACHED_NAMES_MAX);
    }

    #[test]
    fn the_system_knows_localhost() {
        let (notify, notified) = mpsc::channel();
        let notify = Box::new(move || notify.send(()).expect("the test listens"));
        let mut resolver = Resolver::start(Duration::from_secs(60), notify).expect("a thread");
        assert_eq!(resolver.resolve("localhost", 7), Lookup::Pending);
        notified.recv().expect("an answer");
        let resolved = resolver.try_recv().expect("an answer");
        assert!(resolved.addresses.expect("it is known").iter().all(IpAddr::is_loopback));
    }
}
