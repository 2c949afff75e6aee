//! The tasks that one event causes for other connections.

use crate::keys::{ClientKey, ServerKey};
use crate::server::Server;

/// A task for a client or a server connection.
#[derive(Debug)]
pub(in crate::board) enum Due {
    /// Process the bytes in the client's inbox.
    ProcessInbox(ClientKey),
    /// The client was lent a server connection for something else than a turn (for its login): start that.
    UseServer(ClientKey),
    /// The client's login may have got further: handle its next event.
    ContinueLogin(ClientKey),
    /// The client's cancel request is handled: close the client, which is the answer.
    CloseCanceller(ClientKey),
    /// We have closed this server connection, but clients still waited for its answers: fail their turns.
    FailTurns(Box<Server>),
    /// No client uses the server connection any more: clean it and lend it to the next client. This is a task because all
    /// bytes that came together with the last answer must be read first.
    Reclaim(ServerKey),
    /// The server connection is reset: lend it to the next client.
    LendOrIdle(ServerKey),
}
