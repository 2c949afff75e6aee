//! What an operator asks of the running proxy, and what becomes of it: data, whoever asks and however.

use std::sync::mpsc::SyncSender;

use trunkline_relay::board::Shutdown;

use crate::config::reload::Changes;

/// What an operator asks of the running proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Read the configuration again; nobody is dropped.
    Reload,
    /// Hand out no server connection until resumed.
    Pause,
    /// Go on after a pause.
    Resume,
    /// Accept no one, and end: when the last server connection in use came back, when the last client left or the
    /// shutdown timeout passed, or without waiting.
    ShutDown(Shutdown),
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was passed on to all workers.
    Done,
    /// The configuration was read again and is in force, with these changes.
    Reloaded(Changes),
    /// Nothing was done.
    Refused(Refused),
}

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The proxy is on its way to its end.
    ShuttingDown,
    /// The configuration cannot be used; the text says why, in one line or several.
    Unusable(String),
}

/// A command, and where its answer goes.
#[derive(Debug)]
pub struct Order {
    /// What is asked.
    pub command: Command,
    /// Who waits for the answer, if anybody does. Its channel needs room for one: nobody waits until it is taken.
    pub answer: Option<SyncSender<Answer>>,
}

impl Order {
    /// Gives the answer to who waits for it.
    pub fn give(&self, answer: Answer) {
        if let Some(asker) = &self.answer {
            // Who does not wait any more needs none.
            let _ = asker.try_send(answer);
        }
    }
}

impl From<Command> for Order {
    /// A command that nobody waits for.
    fn from(command: Command) -> Self {
        Self { command, answer: None }
    }
}
