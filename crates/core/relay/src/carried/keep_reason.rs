//! Why a client keeps its server connection.

use trunkline_wire::backend::TransactionStatus;

use crate::client::{Client, Purpose, Stage};
use crate::server::Server;

/// Why a client whose turns are all answered keeps the server connection that is lent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeepReason {
    /// In session mode a client keeps its connection until it leaves.
    Session,
    /// The client has, or may have, something on the connection that cannot be carried (`auto` mode).
    Pinned,
    /// A transaction is open, or has failed and is not ended yet.
    Transaction,
    /// The client has sent only a part of a message.
    Message,
}

/// The reason why the client must keep the connection. `None` if another client may get it.
pub(crate) fn keep_reason(client: &Client, server: &Server) -> Option<KeepReason> {
    if matches!(client.stage, Stage::Linked(_, Purpose::Session)) {
        Some(KeepReason::Session)
    } else if server.status != TransactionStatus::Idle {
        Some(KeepReason::Transaction)
    } else if !client.pins.is_empty() {
        Some(KeepReason::Pinned)
    } else if !client.rest.is_none() {
        Some(KeepReason::Message)
    } else {
        None
    }
}
