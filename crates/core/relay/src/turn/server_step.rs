//! What is done with a frame of a server's.

use trunkline_wire::backend::TransactionStatus;

use super::Chore;
use crate::error::ServerMisbehaved;

/// Why [`from_server`](super::from_server) returned.
#[derive(Debug)]
pub(crate) enum ServerStop {
    /// All is dealt with but what is returned as not consumed: the beginning of a message.
    More,
    /// A turn of the client has ended and no other is under way.
    TurnOver,
    /// All turns of the client are answered; those of another follow.
    NextOwner,
    /// A turn of the client has ended, and what it sent since waits for what came of it.
    Decided,
    /// A turn has left a transaction open, where none may be.
    TransactionOpen,
    /// A turn of the client has failed, which it does not know. It is to be played again: this is what it has sent.
    Replay(Vec<u8>),
    /// A chore has ended.
    ChoreOver(Chore),
    /// The server changed parameters: name, and value in the client's encoding.
    Parameter(Box<str>, Box<[u8]>),
    /// Something was reset, and it is not known what: parameters that are not reported may have changed.
    ParametersUnknown,
    /// The turn that is about to end with this status has reset parameters: the client is told what it has now, then call
    /// again.
    Resets(TransactionStatus),
    /// The server says why it will close the connection: the ErrorResponse's body.
    Fatal(Vec<u8>),
    /// The server broke the protocol.
    Fault(ServerMisbehaved),
}

/// What is done with a frame.
pub(super) enum Step {
    Pass,
    Drop,
    Wait,
    /// Return first: it is dealt with when called again.
    Before(ServerStop),
    /// Pass it or drop it, then return.
    Stop(bool, ServerStop),
    /// Drop it and write these bytes in its place.
    Replace(Vec<u8>),
}

/// A message where another was due.
pub(super) fn unexpected(tag: u8, expected: &'static str) -> ServerMisbehaved {
    ServerMisbehaved::Unexpected { tag, expected }
}
