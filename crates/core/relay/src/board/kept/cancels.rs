//! Cancel requests on their way to servers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::directory::Target;
use crate::keys::{ClientKey, ServerKey};

/// A cancel request to be delivered to a server. `Debug` does not show its secret.
#[derive(Clone)]
pub struct CancelTicket {
    /// Give it back with `cancel_delivered`.
    pub server: ServerKey,
    /// Where to.
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

/// Who waits for cancels of this worker's server connections.
#[derive(Default)]
pub(in crate::board) struct Cancels {
    pub(in crate::board) waiting: HashMap<ServerKey, Vec<(usize, ClientKey)>>,
    pub(in crate::board) under_way: usize,
    pub(in crate::board) queued: VecDeque<ServerKey>,
}

impl Cancels {
    pub(in crate::board) fn under_way(&self) -> usize {
        self.under_way
    }
}
