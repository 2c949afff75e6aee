//! Messages to a worker, from other workers and from the operator's and the HTTP thread.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use mio::Waker;
use trunkline_net::stream::Stream;
use trunkline_relay::board::{BoardStatus, PoolStatus};
use trunkline_relay::{Mail, Server};

use super::socket::Socket;
use super::tls::TlsSet;

/// Most messages that may wait for a worker. A worker reads all messages in each round, so only a worker that hangs reaches
/// this.
pub(super) const MESSAGES_MAX: usize = 16 * 1024;

/// A message to a worker.
pub enum WorkerMessage {
    /// A message for the worker's board.
    Mail(Mail),
    /// A server connection that another worker hands over.
    Server(Box<Server>, Socket),
    /// A client's connection that another worker has accepted; `true` if it came over a unix socket.
    Client(Stream, bool),
    /// Certificates and keys were loaded again.
    Tls(Arc<TlsSet>),
    /// A request for the worker's figures. The answer is dropped if nobody waits for it any more.
    Report(SyncSender<Report>),
}

/// A worker's figures.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The figures of the worker's pools.
    pub pools: Vec<PoolStatus>,
    /// The figures of the worker's connections.
    pub board: BoardStatus,
}

/// The sending side of a worker's messages.
#[derive(Clone)]
pub struct Mailbox {
    sender: SyncSender<WorkerMessage>,
    waker: Arc<Waker>,
}

impl Mailbox {
    /// A mailbox for the worker that `waker` wakes, and the worker's receiver.
    #[must_use]
    pub fn new(waker: Arc<Waker>) -> (Self, Receiver<WorkerMessage>) {
        let (sender, receiver) = sync_channel(MESSAGES_MAX);
        (Self { sender, waker }, receiver)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The message itself, if the worker is gone or has [`MESSAGES_MAX`] unread messages.
    pub fn send(&self, message: WorkerMessage) -> Result<(), WorkerMessage> {
        self.sender.try_send(message).map_err(|error| match error {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        })?;
        // If the waker fails, the worker reads the message in its next round, which the clock starts.
        if let Err(error) = self.waker.wake() {
            tracing::warn!("cannot wake a worker: {error}");
        }
        Ok(())
    }
}
