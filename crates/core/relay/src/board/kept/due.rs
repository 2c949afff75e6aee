//! What one event makes possible for others.

use crate::keys::{ClientKey, ServerKey};
use crate::server::Server;

/// Something to be done for a client, or with a server connection.
#[derive(Debug)]
pub(in crate::board) enum Due {
    /// What it sent earlier may be dealt with now.
    Inbox(ClientKey),
    /// It was lent a server connection, for something else than a turn of its own.
    Begin(ClientKey),
    /// It was asked for proof, or let in without.
    Login(ClientKey),
    /// Its cancel request is dealt with: it is answered by the close.
    CancelAnswered(ClientKey),
    /// It was closed by us, and owes answers to clients.
    TurnsLost(Box<Server>),
    /// Nobody uses it any more: it is for the next one, once all is read that came with the last answer.
    Free(ServerKey),
    /// It has been reset, and is for the next one.
    GiveOn(ServerKey),
}
