//! What the HTTP pages show: every worker is asked for its figures, with a bound on how long that may take.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use trunkline_relay::Shared;

use super::exposed::{self, Process};
use super::figures::Figures;
use crate::config::Config;
use crate::http::Page;
use crate::worker::{Mailbox, Report, WorkerMessage};

/// How long a worker may take to answer. One that takes longer hangs, or is in dire straits.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// What the proxy is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Serving.
    Serving,
    /// Holding turns back until it is resumed.
    Paused,
    /// On its way to its end.
    Stopping,
}

/// What the operator's thread tells the pages.
pub(super) struct Status {
    /// What the proxy is doing.
    pub(super) phase: Phase,
    /// The configuration in force.
    pub(super) config: Arc<Config>,
}

/// The pages of a running proxy.
pub(super) struct StatusPage {
    mailboxes: Vec<Mailbox>,
    shared: Arc<Shared>,
    status: Arc<Mutex<Status>>,
    /// What each worker said last. Counts must not go back because a worker has no time to answer.
    last: Mutex<Vec<Report>>,
    started: SystemTime,
}

impl StatusPage {
    /// `mailboxes`: the workers', by their numbers.
    pub(super) fn new(mailboxes: Vec<Mailbox>, shared: Arc<Shared>, status: Arc<Mutex<Status>>) -> Self {
        let last = Mutex::new(vec![Report::default(); mailboxes.len()]);
        Self { mailboxes, shared, status, last, started: SystemTime::now() }
    }

    /// Asks all workers at once; the answers of those that gave one in time, by their numbers.
    fn ask(&self) -> Vec<Option<Report>> {
        let deadline = Instant::now() + ANSWER_MAX;
        let asked: Vec<_> = self
            .mailboxes
            .iter()
            .map(|mailbox| {
                let (sender, answer) = sync_channel(1);
                mailbox.send(WorkerMessage::Report(sender)).is_ok().then_some(answer)
            })
            .collect();
        let answer = |answer: Option<Receiver<Report>>| {
            let left = deadline.saturating_duration_since(Instant::now());
            answer?.recv_timeout(left).ok()
        };
        asked.into_iter().map(answer).collect()
    }
}

impl Page for StatusPage {
    fn metrics(&self, out: &mut String) {
        let answers = self.ask();
        let answering = answers.iter().flatten().count();
        let figures = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            for (last, answer) in last.iter_mut().zip(answers) {
                if let Some(answer) = answer {
                    *last = answer;
                }
            }
            Figures::sum(&last)
        };
        let (config, phase) = {
            let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
            (Arc::clone(&status.config), status.phase)
        };
        let process = Process {
            started: self.started,
            workers: self.mailboxes.len(),
            answering,
            paused: phase == Phase::Paused,
        };
        exposed::write(&process, &figures, &self.shared, &config, out);
    }

    fn ready(&self) -> Result<(), String> {
        match self.status.lock().unwrap_or_else(PoisonError::into_inner).phase {
            Phase::Stopping => return Err("shutting down".to_owned()),
            Phase::Paused => return Err("paused".to_owned()),
            Phase::Serving => {}
        }
        let silent: Vec<String> = self
            .ask()
            .iter()
            .enumerate()
            .filter(|(_, answer)| answer.is_none())
            .map(|(worker, _)| format!("worker-{worker}"))
            .collect();
        if silent.is_empty() { Ok(()) } else { Err(format!("no answer from {}", silent.join(", "))) }
    }
}
