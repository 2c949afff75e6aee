//! Carries out what the operator commands: reload, pause, resume, and the ways to end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rand::Rng;
use trunkline_relay::board::Shutdown;
use trunkline_relay::{Directory, Mail};
use trunkline_session::authentication::scram::KEY_BYTES;

use super::certificates::{self, CertificateError, TlsProfiles};
use super::directory::{self, Origin};
use super::page::{Phase, Status};
use crate::command::{Answer, Command, Refused};
use crate::config::{Config, ConfigSource, reload};
use crate::logging;
use crate::worker::{Mailbox, TlsSet, WorkerMessage};

/// How long workers that must end now may take for it.
const END_NOW_MAX: Duration = Duration::from_secs(5);

/// The configuration in force, and what was made of it.
pub(super) struct InForce {
    pub(super) config: Arc<Config>,
    pub(super) directory: Arc<Directory>,
    pub(super) tls: Arc<TlsSet>,
    profiles: TlsProfiles,
    mock_key: [u8; KEY_BYTES],
}

impl InForce {
    /// Of the configuration that the process starts with.
    pub(super) fn first(config: Config) -> Result<Self, CertificateError> {
        let mut mock_key = [0; KEY_BYTES];
        rand::rng().fill_bytes(&mut mock_key);
        let profiles = TlsProfiles::default().with(&config);
        let tls = certificates::load(&config, &profiles, None)?;
        let origin = Origin { epoch: 1, mock_key, profiles: &profiles, before: None };
        let directory = directory::build(&config, &origin);
        Ok(Self {
            config: Arc::new(config),
            directory: Arc::new(directory),
            tls: Arc::new(tls),
            profiles,
            mock_key,
        })
    }

    /// Of a configuration that replaces this one.
    fn next(&self, config: Config) -> Result<Self, CertificateError> {
        let profiles = self.profiles.with(&config);
        let before = certificates::InForce { config: &self.config, tls: &self.tls };
        let tls = certificates::load(&config, &profiles, Some(&before))?;
        let origin = Origin {
            epoch: self.directory.epoch + 1,
            mock_key: self.mock_key,
            profiles: &profiles,
            before: Some(&self.directory),
        };
        let directory = directory::build(&config, &origin);
        Ok(Self {
            config: Arc::new(config),
            directory: Arc::new(directory),
            tls: Arc::new(tls),
            profiles,
            mock_key: self.mock_key,
        })
    }
}

/// Carries out commands.
pub(super) struct Operator {
    source: ConfigSource,
    force: InForce,
    mailboxes: Vec<Mailbox>,
    status: Arc<Mutex<Status>>,
    ending: Option<Shutdown>,
    deadline: Option<Instant>,
}

impl Operator {
    /// `force` is what the workers begin with.
    pub(super) fn new(
        source: ConfigSource,
        force: InForce,
        mailboxes: Vec<Mailbox>,
        status: Arc<Mutex<Status>>,
    ) -> Self {
        Self { source, force, mailboxes, status, ending: None, deadline: None }
    }

    /// When the patience with those who were asked to leave is at its end.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the workers were told to end, sooner or later.
    pub(super) fn is_stopping(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether the workers were told to end at once.
    pub(super) fn is_ending_now(&self) -> bool {
        self.ending == Some(Shutdown::Now)
    }

    /// Does what was commanded, and says what became of it.
    pub(super) fn obey(&mut self, command: Command) -> Answer {
        match command {
            Command::Reload => return self.reload(),
            Command::Pause if self.is_stopping() => {
                tracing::warn!("shutting down: a pause is no use now");
                return Answer::Refused(Refused::ShuttingDown);
            }
            Command::Pause => {
                self.phase(Phase::Paused);
                self.tell(|| WorkerMessage::Mail(Mail::Pause(true)));
                tracing::info!("paused: server connections are closed as they come free, clients wait");
            }
            Command::Resume => {
                if !self.is_stopping() {
                    self.phase(Phase::Serving);
                }
                self.tell(|| WorkerMessage::Mail(Mail::Pause(false)));
                tracing::info!("resumed");
            }
            Command::ShutDown(how) => self.shut_down(how),
        }
        Answer::Done
    }

    fn shut_down(&mut self, how: Shutdown) {
        match how {
            Shutdown::WaitForServers => {
                tracing::info!("shutting down when no server connection is in use any more");
                self.end(how, None);
            }
            Shutdown::WaitForClients => {
                let patience = self.force.config.timeouts.shutdown_timeout;
                let bound =
                    patience.map(|patience| format!(", at most {patience:?} from now")).unwrap_or_default();
                tracing::info!("shutting down when the last client has left{bound}");
                self.end(how, patience);
            }
            Shutdown::Now if self.is_ending_now() => {}
            Shutdown::Now => {
                tracing::info!("shutting down now");
                self.end(how, Some(END_NOW_MAX));
            }
        }
    }

    fn end(&mut self, how: Shutdown, patience: Option<Duration>) {
        self.ending = Some(how);
        self.deadline = patience.map(|patience| Instant::now() + patience);
        self.phase(Phase::Stopping);
        // Clients that are waited for get what they wait for.
        self.tell(|| WorkerMessage::Mail(Mail::Pause(false)));
        self.tell(|| WorkerMessage::Mail(Mail::Shutdown(how)));
    }

    fn reload(&mut self) -> Answer {
        let read = match self.source.read() {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("the configuration stays as it is, the new one cannot be used:");
                let error = error.to_string();
                // Laid out in lines, each of which is one.
                for line in error.lines() {
                    tracing::error!(target: logging::OPERATOR, "{line}");
                }
                return Answer::Refused(Refused::Unusable(error));
            }
        };
        let changes = reload::compare(&self.force.config, &read);
        if let Some(warning) = changes.warning() {
            tracing::warn!("{warning}");
        }
        let next = match self.force.next(read.keeping_restart_settings(&self.force.config)) {
            Ok(next) => next,
            Err(error) => {
                tracing::error!("the configuration stays as it is, the new one cannot be used: {error}");
                return Answer::Refused(Refused::Unusable(error.to_string()));
            }
        };
        self.force = next;
        super::apply_to_process(&self.force.config);
        self.status.lock().unwrap_or_else(PoisonError::into_inner).config = Arc::clone(&self.force.config);
        // Certificates first: the directory's servers may have numbers that are new in this set.
        self.tell(|| WorkerMessage::Tls(Arc::clone(&self.force.tls)));
        self.tell(|| WorkerMessage::Mail(Mail::Reload(Arc::clone(&self.force.directory))));
        let changed =
            if changes.changed.is_empty() { "nothing".to_owned() } else { changes.changed.join(", ") };
        tracing::info!("configuration and certificates read again; changed: {changed}");
        Answer::Reloaded(changes)
    }

    fn phase(&self, phase: Phase) {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).phase = phase;
    }

    fn tell(&self, message: impl Fn() -> WorkerMessage) {
        for (worker, mailbox) in self.mailboxes.iter().enumerate() {
            // One that has ended needs no command; one that hangs is found by its silence to `/readyz`.
            if mailbox.send(message()).is_err() && !self.is_stopping() {
                tracing::error!("worker-{worker} takes no commands: it hangs, or is gone");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reload_is_answered_by_what_it_changed() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("trunkline.toml");
        let app = "[databases.app]\nhost = \"db\"\n[users.u]\npassword = \"x\"\n";
        let before = Config::parse(app, "before.toml", directory.path(), &|_| None).expect("accepted");
        let force = InForce::first(before).expect("no certificates");
        let status = Status { phase: Phase::Serving, config: Arc::clone(&force.config) };
        let source = ConfigSource::File(file.clone());
        let mut operator = Operator::new(source, force, Vec::new(), Arc::new(Mutex::new(status)));

        let after = format!("workers = 2\n[limits]\nmax_client_conn = 5\n{app}");
        std::fs::write(&file, after).expect("written");
        let changes = reload::Changes {
            changed: vec!["limits".to_owned()],
            needs_restart: vec!["workers".to_owned()],
            ..reload::Changes::default()
        };
        assert_eq!(operator.obey(Command::Reload), Answer::Reloaded(changes));
        assert_eq!(operator.force.config.limits.max_client_conn, 5);
        assert_eq!(operator.force.config.general.workers, 0);
    }
}
