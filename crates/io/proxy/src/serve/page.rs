//! The content of the HTTP pages. Each request asks every worker for its figures, with a bound on the time.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use trunkline_relay::Shared;

use super::figures::Figures;
use super::metrics::{self, ProcessStatus};
use crate::config::Config;
use crate::http::Page;
use crate::worker::{Mailbox, Report, WorkerMessage};

/// How long a worker may take to report. A worker that takes longer hangs or is overloaded.
const REPORT_TIME_MAX: Duration = Duration::from_secs(1);

/// What the proxy is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It serves clients.
    Serving,
    /// It holds turns back until it is resumed.
    Paused,
    /// It is shutting down.
    Stopping,
}

/// What the operator's thread sets for the pages.
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
    /// The last report of each worker, shown when the worker does not answer in time: a counter must not go back.
    last: Mutex<Vec<Report>>,
    started: SystemTime,
}

impl StatusPage {
    /// `mailboxes`: the mailboxes of all workers, in the order of their numbers.
    pub(super) fn new(mailboxes: Vec<Mailbox>, shared: Arc<Shared>, status: Arc<Mutex<Status>>) -> Self {
        let last = Mutex::new(vec![Report::default(); mailboxes.len()]);
        Self { mailboxes, shared, status, last, started: SystemTime::now() }
    }

    /// Asks all workers at once. Returns the report of each, in the order of their numbers; `None` if it did not come in
    /// time.
    fn collect_reports(&self) -> Vec<Option<Report>> {
        let deadline = Instant::now() + REPORT_TIME_MAX;
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
        let answers = self.collect_reports();
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
        let process = ProcessStatus {
            started: self.started,
            workers: self.mailboxes.len(),
            answering,
            paused: phase == Phase::Paused,
        };
        metrics::write(&process, &figures, &self.shared, &config, out);
    }

    fn ready(&self) -> Result<(), String> {
        match self.status.lock().unwrap_or_else(PoisonError::into_inner).phase {
            Phase::Stopping => return Err("shutting down".to_owned()),
            Phase::Paused => return Err("paused".to_owned()),
            Phase::Serving => {}
        }
        let silent: Vec<String> = self
            .collect_reports()
            .iter()
            .enumerate()
            .filter(|(_, answer)| answer.is_none())
            .map(|(worker, _)| format!("worker-{worker}"))
            .collect();
        if silent.is_empty() { Ok(()) } else { Err(format!("no answer from {}", silent.join(", "))) }
    }
}
