//! Carries out the operator's commands: reload, pause, resume, and the kinds of shutdown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rand::Rng;
use trunkline_relay::board::Shutdown;
use trunkline_relay::{Directory, Mail};
use trunkline_session::authentication::scram::KEY_BYTES;

use super::certificates::{self, CertificateError, TlsProfiles};
use super::directory::{self, BuildInputs};
use super::page::{Phase, Status};
use crate::command::{Answer, Command, Refused};
use crate::config::{Config, ConfigSource, reload};
use crate::logging;
use crate::worker::{Mailbox, TlsSet, WorkerMessage};

/// How long workers may take to end after they were told to end at once.
const END_NOW_TIME_MAX: Duration = Duration::from_secs(5);

/// The configuration in force, and what was made of it.
pub(super) struct ActiveSettings {
    pub(super) config: Arc<Config>,
    pub(super) directory: Arc<Directory>,
    pub(super) tls: Arc<TlsSet>,
    profiles: TlsProfiles,
    mock_key: [u8; KEY_BYTES],
}

impl ActiveSettings {
    /// Makes the first settings of the process.
    pub(super) fn load(config: Config) -> Result<Self, CertificateError> {
        let mut mock_key = [0; KEY_BYTES];
        rand::rng().fill_bytes(&mut mock_key);
        let profiles = TlsProfiles::default().with_profiles_of(&config);
        let tls = certificates::load(&config, &profiles, None)?;
        let inputs = BuildInputs { epoch: 1, mock_key, profiles: &profiles, before: None };
        let directory = directory::build(&config, &inputs);
        Ok(Self {
            config: Arc::new(config),
            directory: Arc::new(directory),
            tls: Arc::new(tls),
            profiles,
            mock_key,
        })
    }

    /// Makes the settings of `config`, which replace these.
    fn replaced_by(&self, config: Config) -> Result<Self, CertificateError> {
        let profiles = self.profiles.with_profiles_of(&config);
        let before = certificates::PreviousTls { config: &self.config, tls: &self.tls };
        let tls = certificates::load(&config, &profiles, Some(&before))?;
        let inputs = BuildInputs {
            epoch: self.directory.epoch + 1,
            mock_key: self.mock_key,
            profiles: &profiles,
            before: Some(&self.directory),
        };
        let directory = directory::build(&config, &inputs);
        Ok(Self {
            config: Arc::new(config),
            directory: Arc::new(directory),
            tls: Arc::new(tls),
            profiles,
            mock_key: self.mock_key,
        })
    }
}

/// Carries out commands. See the module.
pub(super) struct Operator {
    source: ConfigSource,
    active: ActiveSettings,
    mailboxes: Vec<Mailbox>,
    status: Arc<Mutex<Status>>,
    ending: Option<Shutdown>,
    deadline: Option<Instant>,
}

impl Operator {
    /// `active`: the settings with which the workers start.
    pub(super) fn new(
        source: ConfigSource,
        active: ActiveSettings,
        mailboxes: Vec<Mailbox>,
        status: Arc<Mutex<Status>>,
    ) -> Self {
        Self { source, active, mailboxes, status, ending: None, deadline: None }
    }

    /// When the time for the running shutdown is over; `None`: it has no limit, or there is no shutdown.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether a shutdown of any kind has begun.
    pub(super) fn is_stopping(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether the workers have been told to end at once.
    pub(super) fn is_ending_now(&self) -> bool {
        self.ending == Some(Shutdown::Now)
    }

    /// Carries out a command and returns its result.
    pub(super) fn obey(&mut self, command: Command) -> Answer {
        match command {
            Command::Reload => return self.reload(),
            Command::Pause if self.is_stopping() => {
                tracing::warn!("cannot pause: the proxy is shutting down");
                return Answer::Refused(Refused::ShuttingDown);
            }
            Command::Pause => {
                self.set_phase(Phase::Paused);
                self.send_to_workers(|| WorkerMessage::Mail(Mail::Pause(true)));
                tracing::info!(
                    "paused: clients wait, and each server connection is closed when its client gives it back"
                );
            }
            Command::Resume => {
                if !self.is_stopping() {
                    self.set_phase(Phase::Serving);
                }
                self.send_to_workers(|| WorkerMessage::Mail(Mail::Pause(false)));
                tracing::info!("resumed");
            }
            Command::ShutDown(how) => self.shut_down(how),
        }
        Answer::Done
    }

    fn shut_down(&mut self, how: Shutdown) {
        match how {
            Shutdown::WaitForServers => {
                tracing::info!("shutting down as soon as no server connection is in use");
                self.begin_shutdown(how, None);
            }
            Shutdown::WaitForClients => {
                let time_limit = self.active.config.timeouts.shutdown_timeout;
                let bound = time_limit
                    .map(|time_limit| format!(", at most {time_limit:?} from now"))
                    .unwrap_or_default();
                tracing::info!("shutting down as soon as the last client has left{bound}");
                self.begin_shutdown(how, time_limit);
            }
            Shutdown::Now if self.is_ending_now() => {}
            Shutdown::Now => {
                tracing::info!("shutting down now");
                self.begin_shutdown(how, Some(END_NOW_TIME_MAX));
            }
        }
    }

    fn begin_shutdown(&mut self, how: Shutdown, time_limit: Option<Duration>) {
        self.ending = Some(how);
        self.deadline = time_limit.map(|time_limit| Instant::now() + time_limit);
        self.set_phase(Phase::Stopping);
        // The shutdown may wait for clients, so they must get the connections that they wait for: a pause must end.
        self.send_to_workers(|| WorkerMessage::Mail(Mail::Pause(false)));
        self.send_to_workers(|| WorkerMessage::Mail(Mail::Shutdown(how)));
    }

    fn reload(&mut self) -> Answer {
        let read = match self.source.read() {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("the configuration stays as it is, the new one cannot be used:");
                let error = error.to_string();
                // The error has several lines. Each becomes a line of the log.
                for line in error.lines() {
                    tracing::error!(target: logging::OPERATOR, "{line}");
                }
                return Answer::Refused(Refused::Unusable(error));
            }
        };
        let changes = reload::compare(&self.active.config, &read);
        if let Some(warning) = changes.warning() {
            tracing::warn!("{warning}");
        }
        let next = match self.active.replaced_by(read.keeping_restart_settings(&self.active.config)) {
            Ok(next) => next,
            Err(error) => {
                tracing::error!("the configuration stays as it is, the new one cannot be used: {error}");
                return Answer::Refused(Refused::Unusable(error.to_string()));
            }
        };
        self.active = next;
        super::apply_to_process(&self.active.config);
        self.status.lock().unwrap_or_else(PoisonError::into_inner).config = Arc::clone(&self.active.config);
        // Certificates first: the new directory may have numbers of TLS profiles that only the new set has.
        self.send_to_workers(|| WorkerMessage::Tls(Arc::clone(&self.active.tls)));
        self.send_to_workers(|| WorkerMessage::Mail(Mail::Reload(Arc::clone(&self.active.directory))));
        let changed =
            if changes.changed.is_empty() { "nothing".to_owned() } else { changes.changed.join(", ") };
        tracing::info!("configuration and certificates read again; changed: {changed}");
        Answer::Reloaded(changes)
    }

    fn set_phase(&self, phase: Phase) {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).phase = phase;
    }

    fn send_to_workers(&self, message: impl Fn() -> WorkerMessage) {
        for (worker, mailbox) in self.mailboxes.iter().enumerate() {
            // A worker that has ended needs no command. `/readyz` shows a worker that hangs.
            if mailbox.send(message()).is_err() && !self.is_stopping() {
                tracing::error!("worker-{worker} takes no commands: it hangs or has ended");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_reload_lists_its_changes() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("trunkline.toml");
        let app = "[databases.app]\nhost = \"db\"\n[users.u]\npassword = \"x\"\n";
        let before = Config::parse(app, "before.toml", directory.path(), &|_| None).expect("accepted");
        let active = ActiveSettings::load(before).expect("no certificates");
        let status = Status { phase: Phase::Serving, config: Arc::clone(&active.config) };
        let source = ConfigSource::File(file.clone());
        let mut operator = Operator::new(source, active, Vec::new(), Arc::new(Mutex::new(status)));

        let after = format!("workers = 2\n[limits]\nmax_client_conn = 5\n{app}");
        std::fs::write(&file, after).expect("written");
        let changes = reload::Changes {
            changed: vec!["limits".to_owned()],
            needs_restart: vec!["workers".to_owned()],
            ..reload::Changes::default()
        };
        assert_eq!(operator.obey(Command::Reload), Answer::Reloaded(changes));
        assert_eq!(operator.active.config.limits.max_client_conn, 5);
        assert_eq!(operator.active.config.general.workers, 0);
    }
}
