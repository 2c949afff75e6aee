//! Letters between workers, and to them from the operator's side.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use mio::Waker;
use trunkline_net::stream::Stream;
use trunkline_relay::board::{BoardStatus, PoolStatus};
use trunkline_relay::{Mail, Server};

use super::socket::Socket;
use super::tls::TlsSet;

/// Letters that may wait for a worker. A worker reads them all in each round, so this is reached only when one hangs.
pub(super) const MESSAGES_MAX: usize = 16 * 1024;

/// What a worker is told.
pub enum WorkerMessage {
    /// Something for its board.
    Mail(Mail),
    /// A server connection that another worker hands over.
    Server(Box<Server>, Socket),
    /// A connection of a client's that another worker has accepted; whether it is a unix socket's.
    Client(Stream, bool),
    /// Certificates and keys were loaded again.
    Tls(Arc<TlsSet>),
    /// How are you? The answer is dropped when nobody waits for it any more.
    Report(SyncSender<Report>),
}

/// A worker's figures.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Its pools.
    pub pools: Vec<PoolStatus>,
    /// Its connections.
    pub board: BoardStatus,
}

/// Where a worker's messages go in.
#[derive(Clone)]
pub struct Mailbox {
    sender: SyncSender<WorkerMessage>,
    waker: Arc<Waker>,
}

impl Mailbox {
    /// A mailbox and the receiver for the worker that `waker` wakes.
    #[must_use]
    pub fn new(waker: Arc<Waker>) -> (Self, Receiver<WorkerMessage>) {
        let (sender, receiver) = sync_channel(MESSAGES_MAX);
        (Self { sender, waker }, receiver)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Gives it back when the worker is gone, or has [`MESSAGES_MAX`] messages to read.
    pub fn send(&self, message: WorkerMessage) -> Result<(), WorkerMessage> {
        self.sender.try_send(message).map_err(|error| match error {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        })?;
        // A waker that fails leaves the message for the worker's next round, which a timer bounds.
        if let Err(error) = self.waker.wake() {
            tracing::warn!("cannot wake a worker: {error}");
        }
        Ok(())
    }
}
