//! The running proxy: from a checked configuration to workers that serve it, until a signal ends them.
//!
//! The calling thread becomes the operator's: it obeys commands, and waits for the workers. Beside it run a thread for
//! each worker, one that translates signals to commands, and one for the HTTP pages.

mod certificates;
mod classes;
mod directory;
mod exposed;
mod figures;
mod listeners;
mod login_secrets;
mod open_files;
mod operator;
mod page;

use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use trunkline_net::stream::Keepalive;
use trunkline_relay::board::Shutdown;
use trunkline_relay::prepared::Registry;
use trunkline_relay::{Classes, Shared};

pub use certificates::CertificateError;

use crate::command::{Command, Order};
use crate::config::{Config, ConfigSource, Timeouts};
use crate::worker::{Mailbox, Worker, WorkerSetup};
use crate::{http, logging, signals};
use operator::{InForce, Operator};
use page::{Phase, Status, StatusPage};

/// How long the addresses of a server's name are believed. The system's lookup does not tell the records' own time.
const DNS_TTL: Duration = Duration::from_secs(15);

/// Orders and farewells that may wait for the operator's thread; signals beyond wait in the kernel.
const EVENTS_MAX: usize = 64;

/// Reads the certificates and keys that a configuration names, as the proxy does when it starts.
///
/// # Errors
/// One that cannot be used.
pub fn check_certificates(config: &Config) -> Result<(), ServeError> {
    let profiles = certificates::TlsProfiles::default().with(config);
    certificates::load(config, &profiles, None).map(drop).map_err(ServeError::Certificate)
}

/// Why the proxy could not start, or ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// An address cannot be listened on.
    Listen(io::Error),
    /// The pages cannot be served.
    Http(io::Error),
    /// A certificate or key cannot be used.
    Certificate(CertificateError),
    /// A thread, a poll or a signal handler cannot be had.
    System(io::Error),
    /// Workers ended that were not asked to: the others cannot do their part, so the process ends.
    WorkersLost(Vec<String>),
    /// Workers that did not end when they had to.
    WorkersStuck(usize),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) => error.fmt(f),
            Self::Http(error) => write!(f, "cannot serve the HTTP pages (`http.listen`): {error}"),
            Self::Certificate(error) => error.fmt(f),
            Self::System(error) => write!(f, "the operating system refused what a start needs: {error}"),
            Self::WorkersLost(workers) => write!(
                f,
                "a worker broke, which is a fault of Trunkline's: please report it with the log ({})",
                workers.join("; ")
            ),
            Self::WorkersStuck(count) => {
                write!(f, "{count} workers did not end in time; the process ends without them")
            }
        }
    }
}

impl std::error::Error for ServeError {}

/// What the operator's thread waits for.
enum Event {
    Order(Order),
    /// A worker's thread comes to its end.
    Ended(usize),
}

/// Gives orders to the operator's thread. Each who commands has a clone.
#[derive(Clone)]
struct Commander {
    events: SyncSender<Event>,
}

impl Commander {
    fn send(&self, order: Order) {
        // When nobody receives any more, the process is at its end. Then the answer's channel ends, too.
        let _ = self.events.send(Event::Order(order));
    }
}

/// Serves `config` until a signal ends it; a reload reads `source` again.
///
/// # Errors
/// Why it could not start, or that workers broke.
pub fn run(config: Config, source: ConfigSource) -> Result<(), ServeError> {
    let count = match config.general.workers {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        workers => workers as usize,
    };
    open_files::raise(&config, count);
    let force = InForce::first(config).map_err(ServeError::Certificate)?;
    let config = Arc::clone(&force.config);
    let mut listeners = listeners::bind(&config.general, count).map_err(ServeError::Listen)?;
    let registry = Registry::new(config.limits.prepared_registry_bytes_max.bytes());
    let classes = Classes::new(config.limits.statement_classes_bytes_max.bytes(), rand::random());
    let shared = Arc::new(Shared::new(count, registry, classes));

    let started = Instant::now();
    let (mut workers, mut mailboxes) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (index, listeners) in listeners.workers.drain(..).enumerate() {
        let (worker, mailbox) = Worker::new(WorkerSetup {
            index,
            shared: Arc::clone(&shared),
            directory: Arc::clone(&force.directory),
            tls: Arc::clone(&force.tls),
            listeners,
            keepalive: keepalive(&config.timeouts),
            dns_ttl: DNS_TTL,
            started,
        })
        .map_err(ServeError::System)?;
        workers.push(worker);
        mailboxes.push(mailbox);
    }

    let status = Arc::new(Mutex::new(Status { phase: Phase::Serving, config: Arc::clone(&config) }));
    let page = StatusPage::new(mailboxes.clone(), shared, Arc::clone(&status));
    let http = http::start(&config.http, Arc::new(page)).map_err(ServeError::Http)?;
    let (sender, events) = sync_channel(EVENTS_MAX);
    let commander = Commander { events: sender.clone() };
    let _signals =
        signals::watch(move |command| commander.send(command.into())).map_err(ServeError::System)?;
    let threads = start(workers, &mailboxes, &sender).map_err(ServeError::System)?;

    let mut places = listeners.places.join(", ");
    if let Some(http) = &http {
        let addresses: Vec<String> = http.addresses().iter().map(ToString::to_string).collect();
        places = format!("{places}, HTTP on {}", addresses.join(", "));
    }
    tracing::info!("listening on {places} ({count} worker{})", if count == 1 { "" } else { "s" });
    let ended = Running { threads, operator: Operator::new(source, force, mailboxes, status) }.serve(&events);
    logging::finish();
    ended
}

fn keepalive(timeouts: &Timeouts) -> Option<Keepalive> {
    timeouts.tcp_keepalive.then(|| Keepalive {
        idle: timeouts.tcp_keepidle,
        interval: timeouts.tcp_keepintvl,
        probes_max: (timeouts.tcp_keepcnt != 0).then_some(timeouts.tcp_keepcnt),
        user_timeout: timeouts.tcp_user_timeout,
    })
}

/// Says that a worker's thread ends, however it does.
struct Farewell {
    index: usize,
    events: SyncSender<Event>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        // When nobody receives any more, the process is at its end.
        let _ = self.events.send(Event::Ended(self.index));
    }
}

fn start(
    workers: Vec<Worker>,
    mailboxes: &[Mailbox],
    events: &SyncSender<Event>,
) -> io::Result<Vec<Option<JoinHandle<()>>>> {
    let mut threads = Vec::with_capacity(workers.len());
    for (index, worker) in workers.into_iter().enumerate() {
        let (peers, farewell) = (mailboxes.to_vec(), Farewell { index, events: events.clone() });
        let thread = std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
            let _farewell = farewell;
            worker.run(peers);
        })?;
        threads.push(Some(thread));
    }
    Ok(threads)
}

/// The workers' threads, and who commands them.
struct Running {
    /// By worker; those that ended are absent.
    threads: Vec<Option<JoinHandle<()>>>,
    operator: Operator,
}

impl Running {
    /// Obeys until all workers have ended.
    fn serve(mut self, events: &Receiver<Event>) -> Result<(), ServeError> {
        let mut lost = Vec::new();
        while self.threads.iter().any(Option::is_some) {
            let event = match self.operator.deadline() {
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => events.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Order(order)) => order.reply(self.operator.obey(order.command)),
                Ok(Event::Ended(index)) => {
                    if let Some(why) = self.ended(index) {
                        tracing::error!("{why}: the process ends");
                        lost.push(why);
                        self.operator.obey(Command::ShutDown(Shutdown::Now));
                    }
                }
                Err(_) if self.operator.is_ending_now() => {
                    let stuck = self.threads.iter().flatten().count();
                    return Err(ServeError::WorkersStuck(stuck));
                }
                Err(_) => {
                    tracing::warn!("shutdown_timeout has passed: the clients that are left are closed");
                    self.operator.obey(Command::ShutDown(Shutdown::Now));
                }
            }
        }
        if lost.is_empty() { Ok(()) } else { Err(ServeError::WorkersLost(lost)) }
    }

    /// Takes leave of a worker; gives what is wrong about its end, if anything is.
    fn ended(&mut self, index: usize) -> Option<String> {
        let thread = self.threads.get_mut(index)?.take()?;
        match thread.join() {
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Some(format!("worker-{index} panicked: {text}"))
            }
            Ok(()) if !self.operator.is_stopping() => Some(format!("worker-{index} ended unasked")),
            Ok(()) => None,
        }
    }
}

/// Puts what a reload may change in place for the process as a whole.
fn apply_to_process(config: &Config) {
    logging::apply(&config.log);
    for advice in config.advice() {
        tracing::warn!(target: logging::OPERATOR, "{advice}");
    }
}

/// What a worker of a test is made of, from the text of a configuration without certificates.
#[cfg(test)]
pub(crate) fn settings_of(text: &str) -> (Arc<trunkline_relay::Directory>, Arc<crate::worker::TlsSet>) {
    let config = Config::parse(text, "test.toml", std::path::Path::new("/"), &|_| None).expect("accepted");
    let force = InForce::first(config).expect("no certificates");
    (force.directory, force.tls)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use mio::{Poll, Token, Waker};
    use trunkline_relay::Mail;

    use super::*;
    use crate::command::{Answer, Refused};
    use crate::worker::WorkerMessage;

    /// An operator of `mailboxes`, whose clients have 20 ms when it comes to an end.
    fn operator(mailboxes: Vec<Mailbox>) -> Operator {
        let mut config = Config::default();
        config.timeouts.shutdown_timeout = Some(Duration::from_millis(20));
        let force = InForce::first(config).expect("no certificates");
        let status = Status { phase: Phase::Serving, config: Arc::clone(&force.config) };
        let source = ConfigSource::File("/nonexistent/trunkline.toml".into());
        Operator::new(source, force, mailboxes, Arc::new(Mutex::new(status)))
    }

    fn mailbox(poll: &Poll) -> (Mailbox, Receiver<WorkerMessage>) {
        Mailbox::new(Arc::new(Waker::new(poll.registry(), Token(0)).expect("a waker")))
    }

    /// What a worker's thread is here: something that reads messages, and a farewell.
    fn thread(events: &SyncSender<Event>, body: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
        let farewell = Farewell { index: 0, events: events.clone() };
        Some(std::thread::spawn(move || {
            let _farewell = farewell;
            body();
        }))
    }

    #[test]
    fn a_worker_that_panics_or_leaves_ends_the_process() {
        for (panics, expected) in
            [(true, "worker-0 panicked: out of tune"), (false, "worker-0 ended unasked")]
        {
            let (sender, events) = sync_channel(EVENTS_MAX);
            let threads = vec![thread(&sender, move || assert!(!panics, "out of tune"))];
            match (Running { threads, operator: operator(Vec::new()) }).serve(&events) {
                Err(ServeError::WorkersLost(lost)) => assert_eq!(lost, [expected]),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn clients_that_stay_are_closed_when_the_time_is_up() {
        let poll = Poll::new().expect("a poll");
        let (mailbox, messages) = mailbox(&poll);
        let (heard, said) = channel();
        let (sender, events) = sync_channel(EVENTS_MAX);
        let worker = thread(&sender, move || {
            for message in messages {
                if let WorkerMessage::Mail(Mail::Shutdown(how)) = message {
                    heard.send(how).expect("the test listens");
                    if how == Shutdown::Now {
                        return;
                    }
                }
            }
        });
        Commander { events: sender }.send(Command::ShutDown(Shutdown::WaitForClients).into());
        let running = Running { threads: vec![worker], operator: operator(vec![mailbox]) };
        assert!(running.serve(&events).is_ok());
        assert_eq!(said.iter().collect::<Vec<_>>(), [Shutdown::WaitForClients, Shutdown::Now]);
    }

    #[test]
    fn a_pause_ends_when_the_end_begins() {
        let poll = Poll::new().expect("a poll");
        let (mailbox, messages) = mailbox(&poll);
        let mut operator = operator(vec![mailbox]);
        // The file is gone: nothing is sent, and nothing breaks.
        let end = Command::ShutDown(Shutdown::WaitForServers);
        for command in [Command::Pause, Command::Reload, end, Command::Pause] {
            operator.obey(command);
        }
        let mut told = Vec::new();
        while let Ok(message) = messages.try_recv() {
            match message {
                WorkerMessage::Mail(Mail::Pause(paused)) => {
                    told.push(if paused { "pause" } else { "resume" });
                }
                WorkerMessage::Mail(Mail::Shutdown(Shutdown::WaitForServers)) => told.push("end"),
                _ => told.push("something else"),
            }
        }
        assert_eq!(told, ["pause", "resume", "end"]);
        assert!(operator.is_stopping() && !operator.is_ending_now() && operator.deadline().is_none());
    }

    #[test]
    fn all_who_command_get_their_own_answer() {
        let poll = Poll::new().expect("a poll");
        let (mailbox, messages) = mailbox(&poll);
        let (sender, events) = sync_channel(EVENTS_MAX);
        let worker = thread(&sender, move || {
            let ends = |message: &WorkerMessage| {
                matches!(message, WorkerMessage::Mail(Mail::Shutdown(Shutdown::Now)))
            };
            messages.iter().find(ends);
        });
        let commander = Commander { events: sender };
        let ask = |command| {
            let (asker, answer) = sync_channel(1);
            commander.clone().send(Order { command, answer: Some(asker) });
            answer
        };
        let end = Command::ShutDown;
        let asked = [Command::Pause, Command::Reload, end(Shutdown::WaitForServers), Command::Pause].map(ask);
        // Who does not wait for an answer holds nobody up.
        drop(ask(Command::Resume));
        let last = ask(end(Shutdown::Now));
        assert!(Running { threads: vec![worker], operator: operator(vec![mailbox]) }.serve(&events).is_ok());

        let [pause, reload, shutdown, late_pause] = asked.map(|answer| answer.recv().expect("an answer"));
        assert_eq!((pause, shutdown, last.recv()), (Answer::Done, Answer::Done, Ok(Answer::Done)));
        assert_eq!(late_pause, Answer::Refused(Refused::ShuttingDown));
        let unusable = "cannot read the configuration /nonexistent/trunkline.toml";
        assert!(matches!(reload, Answer::Refused(Refused::Unusable(why)) if why.starts_with(unusable)));
    }
}
