//! Cancel requests that are being sent to servers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::directory::Target;
use crate::keys::{ClientKey, ServerKey};

/// A cancel request that the shell must send to a server. `Debug` does not show its secret.
#[derive(Clone)]
pub struct CancelTicket {
    /// The server connection whose query is cancelled: the argument of `cancel_delivered`.
    pub server: ServerKey,
    /// The server to send it to.
    pub target: Arc<Target>,
    /// The CancelRequest packet.
    pub packet: Vec<u8>,
}

impl std::fmt::Debug for CancelTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelTicket")
            .field("server", &self.server)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// The cancel requests for this worker's server connections.
#[derive(Default)]
pub(in crate::board) struct Cancels {
    /// By server connection: the clients (each a worker and its client) that have asked for the cancel and wait for its end.
    pub(in crate::board) askers: HashMap<ServerKey, Vec<(usize, ClientKey)>>,
    /// The number of requests that the shell is sending.
    pub(in crate::board) under_way: usize,
    /// Server connections whose requests wait because too many are under way.
    pub(in crate::board) queued: VecDeque<ServerKey>,
}

impl Cancels {
    pub(in crate::board) fn under_way(&self) -> usize {
        self.under_way
    }
}
