//! The running proxy: starts workers for a checked configuration, and runs until a signal ends it.
//!
//! The calling thread becomes the operator's thread: it obeys commands and waits for the workers. The other threads are
//! the workers, one thread that translates signals to commands, and one for the HTTP pages.

mod certificates;
mod class_metrics;
mod directory;
mod figures;
mod listeners;
mod login_secrets;
mod metrics;
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
use operator::{ActiveSettings, Operator};
use page::{Phase, Status, StatusPage};

/// How long the looked-up addresses of a server are used. The system's lookup does not return the TTL of DNS records.
const DNS_TTL: Duration = Duration::from_secs(15);

/// Events that may wait for the operator's thread. Beyond that, the thread that receives signals waits.
const EVENTS_MAX: usize = 64;

/// Reads the certificates and keys that a configuration names, as a start of the proxy does.
///
/// # Errors
/// A certificate or key cannot be used.
pub fn check_certificates(config: &Config) -> Result<(), ServeError> {
    let profiles = certificates::TlsProfiles::default().with_profiles_of(config);
    certificates::load(config, &profiles, None).map(drop).map_err(ServeError::Certificate)
}

/// Why the proxy could not start, or why it ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// A listening socket cannot be opened.
    Listen(io::Error),
    /// The HTTP pages cannot be served.
    Http(io::Error),
    /// A certificate or key cannot be used.
    Certificate(CertificateError),
    /// The system refused a thread, a poll or a signal handler.
    System(io::Error),
    /// Workers ended without a command. The other workers cannot replace them, so the process ends.
    WorkersLost(Vec<String>),
    /// This many workers did not end when they had to.
    WorkersStuck(usize),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(error) => error.fmt(f),
            Self::Http(error) => write!(f, "cannot serve the HTTP pages (`http.listen`): {error}"),
            Self::Certificate(error) => error.fmt(f),
            Self::System(error) => write!(
                f,
                "cannot start: the operating system refused a thread, a poll or a signal handler: {error}"
            ),
            Self::WorkersLost(workers) => write!(
                f,
                "a worker failed, which is a bug in Trunkline: please report it with the log ({})",
                workers.join("; ")
            ),
            Self::WorkersStuck(count) => {
                write!(f, "{count} workers did not end in time; the process ends without them")
            }
        }
    }
}

impl std::error::Error for ServeError {}

/// An event that the operator's thread waits for.
enum Event {
    Order(Order),
    /// The thread of the worker with this number ends.
    Ended(usize),
}

/// Sends orders to the operator's thread. Each source of commands has a clone.
#[derive(Clone)]
struct Commander {
    events: SyncSender<Event>,
}

impl Commander {
    fn send(&self, order: Order) {
        // If the operator's thread receives no more, the process is ending. Dropping the order closes its answer's channel.
        let _ = self.events.send(Event::Order(order));
    }
}

/// Runs the proxy with `config` until a signal ends it. A reload reads `source` again.
///
/// # Errors
/// The proxy could not start, or workers failed.
pub fn run(config: Config, source: ConfigSource) -> Result<(), ServeError> {
    let count = match config.general.workers {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        workers => workers as usize,
    };
    open_files::raise_limit(&config, count);
    let active = ActiveSettings::load(config).map_err(ServeError::Certificate)?;
    let config = Arc::clone(&active.config);
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
            directory: Arc::clone(&active.directory),
            tls: Arc::clone(&active.tls),
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

    let mut addresses = listeners.addresses.join(", ");
    if let Some(http) = &http {
        let pages: Vec<String> = http.addresses().iter().map(ToString::to_string).collect();
        addresses = format!("{addresses}, HTTP on {}", pages.join(", "));
    }
    tracing::info!("listening on {addresses} ({count} worker{})", if count == 1 { "" } else { "s" });
    let result =
        Running { threads, operator: Operator::new(source, active, mailboxes, status) }.serve(&events);
    logging::report_all_left_out_lines();
    result
}

fn keepalive(timeouts: &Timeouts) -> Option<Keepalive> {
    timeouts.tcp_keepalive.then(|| Keepalive {
        idle: timeouts.tcp_keepidle,
        interval: timeouts.tcp_keepintvl,
        probes_max: (timeouts.tcp_keepcnt != 0).then_some(timeouts.tcp_keepcnt),
        user_timeout: timeouts.tcp_user_timeout,
    })
}

/// Reports the end of a worker's thread when it is dropped, also after a panic.
struct EndNotice {
    index: usize,
    events: SyncSender<Event>,
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        // If the operator's thread receives no more, the process is ending.
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
        let (peers, notice) = (mailboxes.to_vec(), EndNotice { index, events: events.clone() });
        let thread = std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
            let _notice = notice;
            worker.run(peers);
        })?;
        threads.push(Some(thread));
    }
    Ok(threads)
}

/// The workers' threads and their operator.
struct Running {
    /// The thread of each worker; `None` if it has ended.
    threads: Vec<Option<JoinHandle<()>>>,
    operator: Operator,
}

impl Running {
    /// Obeys orders until all workers have ended.
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
                    if let Some(why) = self.join_worker(index) {
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
                    tracing::warn!("shutdown_timeout has passed: closing the remaining clients");
                    self.operator.obey(Command::ShutDown(Shutdown::Now));
                }
            }
        }
        if lost.is_empty() { Ok(()) } else { Err(ServeError::WorkersLost(lost)) }
    }

    /// Joins the thread of a worker that has ended. Returns what is wrong about its end; `None` if nothing is.
    fn join_worker(&mut self, index: usize) -> Option<String> {
        let thread = self.threads.get_mut(index)?.take()?;
        match thread.join() {
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Some(format!("worker-{index} panicked: {text}"))
            }
            Ok(()) if !self.operator.is_stopping() => Some(format!("worker-{index} ended without a command")),
            Ok(()) => None,
        }
    }
}

/// Puts the settings in force that concern the whole process and that a reload may change. Logs advice about `config`.
fn apply_to_process(config: &Config) {
    logging::apply(&config.log);
    for advice in config.advice() {
        tracing::warn!(target: logging::OPERATOR, "{advice}");
    }
}

/// The settings of a test's worker, from the text of a configuration without certificates.
#[cfg(test)]
pub(crate) fn worker_settings(text: &str) -> (Arc<trunkline_relay::Directory>, Arc<crate::worker::TlsSet>) {
    let config = Config::parse(text, "test.toml", std::path::Path::new("/"), &|_| None).expect("accepted");
    let active = ActiveSettings::load(config).expect("no certificates");
    (active.directory, active.tls)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use mio::{Poll, Token, Waker};
    use trunkline_relay::Mail;

    use super::*;
    use crate::command::{Answer, Refused};
    use crate::worker::WorkerMessage;

    /// An operator of the workers of `mailboxes`, with a `shutdown_timeout` of 20 ms.
    fn operator(mailboxes: Vec<Mailbox>) -> Operator {
        let mut config = Config::default();
        config.timeouts.shutdown_timeout = Some(Duration::from_millis(20));
        let active = ActiveSettings::load(config).expect("no certificates");
        let status = Status { phase: Phase::Serving, config: Arc::clone(&active.config) };
        let source = ConfigSource::File("/nonexistent/trunkline.toml".into());
        Operator::new(source, active, mailboxes, Arc::new(Mutex::new(status)))
    }

    fn mailbox(poll: &Poll) -> (Mailbox, Receiver<WorkerMessage>) {
        Mailbox::new(Arc::new(Waker::new(poll.registry(), Token(0)).expect("a waker")))
    }

    /// A thread in the place of a worker: it runs `body` and then reports its end.
    fn thread(events: &SyncSender<Event>, body: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
        let notice = EndNotice { index: 0, events: events.clone() };
        Some(std::thread::spawn(move || {
            let _notice = notice;
            body();
        }))
    }

    #[test]
    fn a_worker_that_panics_or_leaves_ends_the_process() {
        for (panics, expected) in
            [(true, "worker-0 panicked: out of tune"), (false, "worker-0 ended without a command")]
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
    fn a_shutdown_stops_waiting_for_clients_after_its_timeout() {
        let poll = Poll::new().expect("a poll");
        let (mailbox, messages) = mailbox(&poll);
        let (shutdowns, received) = channel();
        let (sender, events) = sync_channel(EVENTS_MAX);
        let worker = thread(&sender, move || {
            for message in messages {
                if let WorkerMessage::Mail(Mail::Shutdown(how)) = message {
                    shutdowns.send(how).expect("the test listens");
                    if how == Shutdown::Now {
                        return;
                    }
                }
            }
        });
        Commander { events: sender }.send(Command::ShutDown(Shutdown::WaitForClients).into());
        let running = Running { threads: vec![worker], operator: operator(vec![mailbox]) };
        assert!(running.serve(&events).is_ok());
        assert_eq!(received.iter().collect::<Vec<_>>(), [Shutdown::WaitForClients, Shutdown::Now]);
    }

    #[test]
    fn a_shutdown_ends_a_pause() {
        let poll = Poll::new().expect("a poll");
        let (mailbox, messages) = mailbox(&poll);
        let mut operator = operator(vec![mailbox]);
        // The configuration file does not exist, so the reload sends nothing to the workers.
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
    fn each_order_gets_its_own_answer() {
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
        // A sender that does not wait for its answer must not block the operator.
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
