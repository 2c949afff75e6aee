//! Why a client keeps its server connection.

use trunkline_wire::backend::TransactionStatus;

use crate::client::{Client, Purpose, Stage};
use crate::server::Server;

/// Why a client whose turns are all answered is bound to the connection that it is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bond {
    /// Session mode: it keeps one connection until it leaves.
    Session,
    /// It has, or may have, something on the connection that cannot be carried (`auto` mode).
    Pinned,
    /// A transaction is open, or has failed and is not ended yet.
    Transaction,
    /// The rest of a message is on its way.
    Message,
}

/// Why the client must keep the connection; none: another client may have it.
pub(crate) fn bond(client: &Client, server: &Server) -> Option<Bond> {
    if matches!(client.stage, Stage::Linked(_, Purpose::Session)) {
        Some(Bond::Session)
    } else if server.status != TransactionStatus::Idle {
        Some(Bond::Transaction)
    } else if !client.pins.is_empty() {
        Some(Bond::Pinned)
    } else if !client.rest.is_none() {
        Some(Bond::Message)
    } else {
        None
    }
}
