//! Looks up the addresses of host names, on a thread of its own.
//!
//! Operators expect the system's lookup (getaddrinfo: with hosts file, search domains and nsswitch), but it blocks. So
//! a thread looks up one name after another, and wakes the worker's event loop after each answer. Answers are cached,
//! and callers that ask for the same name share one lookup.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

/// Most names that wait for the thread. Names come from the configuration, so a full queue means that the name server
/// does not answer.
pub const QUEUED_NAMES_MAX: usize = 256;

/// Most callers that wait for an answer at the same time.
pub const WAITING_TOKENS_MAX: usize = 65_536;

/// Most names whose answers are cached.
pub const CACHED_NAMES_MAX: usize = 1_024;

/// The longest time that a failed lookup is cached. It is long enough to protect a name server from a flood of requests,
/// and short enough to find a server soon after it comes up.
pub const NEGATIVE_TTL_MAX: Duration = Duration::from_secs(1);

/// Addresses of one host in the order the system prefers them (RFC 6724), never empty.
pub type Addresses = Arc<[IpAddr]>;

/// Why a name has no addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolveError {
    /// The system's lookup failed.
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
    /// The thread has ended, which happens only when the process ends.
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

/// The result of [`Resolver::resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The answer is known at once: a literal address, a cached answer or an error. No [`Resolved`] follows.
    Known(Result<Addresses, ResolveError>),
    /// The answer will come from [`Resolver::try_recv`], with the caller's token.
    Pending,
}

/// A later answer to [`Resolver::resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The token that the caller gave to [`Resolver::resolve`].
    pub token: u64,
    /// The addresses, or why there are none.
    pub addresses: Result<Addresses, ResolveError>,
}

/// Looks up names for one event loop, on one thread.
///
/// Call [`resolve`](Self::resolve). After each call of `notify`, call [`try_recv`](Self::try_recv) until it returns
/// `None`. Dropping the resolver ends the thread after its current lookup.
#[derive(Debug)]
pub struct Resolver {
    requests: SyncSender<Arc<str>>,
    answers: Receiver<Answer>,
    cache: HashMap<Arc<str>, Cached>,
    /// The tokens of the callers that wait for each name. A name is here from its request until its answer is taken.
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
    /// Starts the thread. It calls `notify` after each answer, to wake the event loop (by mio's `Waker`, for example).
    ///
    /// `cache_ttl`: how long an answer is cached; zero: not at all. The system's lookup does not return a record's own TTL.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub fn start(cache_ttl: Duration, notify: Box<dyn Fn() + Send>) -> io::Result<Self> {
        Self::start_with(cache_ttl, notify, Box::new(system_lookup))
    }

    fn start_with(
        cache_ttl: Duration,
        notify: Box<dyn Fn() + Send>,
        lookup: Box<LookupFunction>,
    ) -> io::Result<Self> {
        let (requests, received) = mpsc::sync_channel(QUEUED_NAMES_MAX);
        // This channel needs no bound: it holds at most one answer for each name in `waiting`.
        let (answer, answers) = mpsc::channel();
        thread::Builder::new()
            .name("trunkline-dns".to_owned())
            .spawn(move || run_lookups(&received, &answer, &*lookup, &*notify))?;
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

    /// Empties the cache, so that the next call for each name makes a new lookup.
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

/// The body of the thread. It ends when the [`Resolver`] is dropped.
fn run_lookups(
    requests: &Receiver<Arc<str>>,
    answer: &Sender<Answer>,
    lookup: &LookupFunction,
    notify: &dyn Fn(),
) {
    while let Ok(host) = requests.recv() {
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

    /// A resolver whose lookups wait until the test gives their answers. It records the names that it looks up.
    struct ControlledResolver {
        resolver: Resolver,
        release: Sender<io::Result<Vec<IpAddr>>>,
        notified: Receiver<()>,
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl ControlledResolver {
        fn new(cache_ttl: Duration) -> Self {
            let (release, controlled) = mpsc::channel();
            let (notify, notified) = mpsc::channel();
            let asked: Arc<Mutex<Vec<String>>> = Arc::default();
            let writes = Arc::clone(&asked);
            let lookup = move |host: &str| {
                writes.lock().expect("not poisoned").push(host.to_owned());
                controlled.recv().expect("the test lets it go")
            };
            let notify = Box::new(move || notify.send(()).expect("the test listens"));
            let resolver = Resolver::start_with(cache_ttl, notify, Box::new(lookup)).expect("a thread");
            Self { resolver, release, notified, asked }
        }

        fn answer(&mut self, answer: io::Result<Vec<IpAddr>>) {
            self.release.send(answer).expect("the thread listens");
            self.notified.recv().expect("the thread notifies");
        }

        fn asked(&self) -> usize {
            self.asked.lock().expect("not poisoned").len()
        }
    }

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn literal_addresses_need_no_lookup() {
        let mut controlled = ControlledResolver::new(Duration::from_secs(60));
        for literal in ["192.0.2.1", "2001:db8::1"] {
            let address: IpAddr = literal.parse().expect("an address");
            assert_eq!(controlled.resolver.resolve(literal, 1), Lookup::Known(Ok([address].into())));
        }
        assert_eq!(controlled.asked(), 0);
    }

    #[test]
    fn callers_of_one_name_share_a_lookup_and_then_the_cache() {
        let mut controlled = ControlledResolver::new(Duration::from_secs(60));
        assert_eq!(controlled.resolver.resolve("db.example", 1), Lookup::Pending);
        assert_eq!(controlled.resolver.resolve("db.example", 2), Lookup::Pending);
        assert_eq!(controlled.resolver.try_recv(), None);
        controlled.answer(Ok(vec![ADDRESS]));
        for token in [1, 2] {
            let resolved = controlled.resolver.try_recv().expect("an answer");
            assert_eq!(resolved, Resolved { token, addresses: Ok([ADDRESS].into()) });
        }
        assert_eq!(controlled.resolver.try_recv(), None);
        assert_eq!(controlled.resolver.resolve("db.example", 3), Lookup::Known(Ok([ADDRESS].into())));
        assert_eq!(controlled.asked(), 1);
        controlled.resolver.forget();
        assert_eq!(controlled.resolver.resolve("db.example", 4), Lookup::Pending);
        controlled.answer(Ok(vec![ADDRESS]));
        assert_eq!(controlled.resolver.try_recv().expect("an answer").token, 4);
        assert_eq!(controlled.asked(), 2);
    }

    #[test]
    fn answers_and_failures_expire() {
        let mut controlled = ControlledResolver::new(Duration::from_secs(60));
        controlled.resolver.resolve("db.example", 1);
        controlled.answer(Err(io::Error::other("no such host")));
        let error = controlled.resolver.try_recv().expect("an answer").addresses.expect_err("failed");
        assert_eq!(error.to_string(), "cannot resolve host name \"db.example\": no such host");
        assert_eq!(
            controlled.resolver.resolve("db.example", 2),
            Lookup::Known(Err(error)),
            "a failure is cached"
        );
        let cached = &controlled.resolver.cache["db.example"];
        assert!(cached.expires <= Instant::now() + NEGATIVE_TTL_MAX, "but not for longer");
        controlled.resolver.cache.get_mut("db.example").expect("cached").expires = Instant::now();
        assert_eq!(controlled.resolver.resolve("db.example", 3), Lookup::Pending, "expired");
        controlled.answer(Ok(Vec::new()));
        let error = controlled.resolver.try_recv().expect("an answer").addresses.expect_err("empty");
        assert!(error.to_string().contains("no addresses"), "{error}");

        let mut uncached = ControlledResolver::new(Duration::ZERO);
        for token in 0..3 {
            assert_eq!(uncached.resolver.resolve("db.example", token), Lookup::Pending);
            uncached.answer(Ok(vec![ADDRESS]));
            assert_eq!(uncached.resolver.try_recv().expect("an answer").token, token);
        }
    }

    #[test]
    fn the_queue_and_the_cache_are_bounded() {
        let mut controlled = ControlledResolver::new(Duration::from_secs(60));
        // The thread may have taken a name from the queue already, which makes room for another one.
        let refused = (0..QUEUED_NAMES_MAX + 2)
            .filter(|n| {
                let lookup = controlled.resolver.resolve(&format!("host{n}.example"), *n as u64);
                matches!(lookup, Lookup::Known(Err(ResolveError::QueueFull { .. })))
            })
            .count();
        assert!((1..=2).contains(&refused), "{refused}");
        for _ in 0..QUEUED_NAMES_MAX + 2 - refused {
            controlled.answer(Ok(vec![ADDRESS]));
        }
        let answered = std::iter::from_fn(|| controlled.resolver.try_recv()).count();
        assert_eq!(answered, QUEUED_NAMES_MAX + 2 - refused);
        assert_eq!(controlled.resolver.waiting_count, 0);
        for n in 0..CACHED_NAMES_MAX + 10 {
            controlled.resolver.resolve(&format!("more{n}.example"), 0);
            controlled.answer(Ok(vec![ADDRESS]));
            assert!(controlled.resolver.try_recv().is_some());
        }
        assert!(controlled.resolver.cache.len() <= CACHED_NAMES_MAX);
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
