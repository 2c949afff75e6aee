//! The commands that an operator gives to the running proxy, and their answers. These types hold data only and do not
//! depend on how a command arrives.

use std::sync::mpsc::SyncSender;

use trunkline_relay::board::Shutdown;

use crate::config::reload::Changes;

/// A command of an operator to the running proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Read the configuration again. All clients stay connected.
    Reload,
    /// Lend no server connections until `Resume`.
    Pause,
    /// End a pause.
    Resume,
    /// Accept no more clients and end the process. [`Shutdown`] says when: after the last server connection in use came
    /// back, after the last client left or the shutdown timeout passed, or at once.
    ShutDown(Shutdown),
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The command was sent to all workers.
    Done,
    /// The configuration was read again and is in force. It differs from the previous one in these points.
    Reloaded(Changes),
    /// The command had no effect.
    Refused(Refused),
}

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The proxy is shutting down.
    ShuttingDown,
    /// The configuration cannot be used; the text says why, in one line or several.
    Unusable(String),
}

/// A command, with the channel for its answer.
#[derive(Debug)]
pub struct Order {
    /// The command.
    pub command: Command,
    /// Where the answer goes; `None` if nobody wants it. The channel needs room for one answer, because the sender does
    /// not wait for room.
    pub answer: Option<SyncSender<Answer>>,
}

impl Order {
    /// Sends the answer to the sender of the command, if it wants one.
    pub fn reply(&self, answer: Answer) {
        if let Some(channel) = &self.answer {
            // A sender that has stopped waiting needs no answer.
            let _ = channel.try_send(answer);
        }
    }
}

impl From<Command> for Order {
    /// A command whose answer nobody wants.
    fn from(command: Command) -> Self {
        Self { command, answer: None }
    }
}
