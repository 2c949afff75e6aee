//! What we do with a server's frame.

use trunkline_wire::backend::TransactionStatus;

use super::Chore;
use crate::error::ServerMisbehaved;

/// Why [`from_server`](super::from_server) returned.
#[derive(Debug)]
pub(crate) enum ServerStop {
    /// Everything is processed except the part that was not consumed: the beginning of a message.
    More,
    /// A turn of the client has ended, and no other turn is under way.
    TurnOver,
    /// All turns of the client are answered, and turns of another client follow.
    NextOwner,
    /// The messages of the client that waited for this answer can go on.
    ClientCanContinue,
    /// A turn has left a transaction open, which statement mode does not allow.
    TransactionOpen,
    /// A turn has failed because of an outdated statement, and its client does not know. We must repeat it. These are its
    /// client's messages.
    Replay(Vec<u8>),
    /// A chore has ended.
    ChoreOver(Chore),
    /// The server has reported a parameter: its name, and its value in the client's encoding.
    Parameter(Box<str>, Box<[u8]>),
    /// A command has reset parameters, and we do not know which: parameters that the server does not report may have
    /// changed.
    ParametersUnknown,
    /// The turn that is about to end with this status has reset parameters. Tell the client its values now, then call
    /// again.
    Resets(TransactionStatus),
    /// The server has said why it will close the connection. This is the ErrorResponse's body.
    Fatal(Vec<u8>),
    /// The server broke the protocol.
    Fault(ServerMisbehaved),
}

/// What we do with a frame.
pub(super) enum Step {
    /// It goes to the client unchanged.
    Pass,
    /// It is dropped.
    Drop,
    /// Its remaining bytes must come first.
    Wait,
    /// Return without processing it. It is processed when the caller calls again.
    StopBefore(ServerStop),
    /// Pass it (true) or drop it, then return.
    StopAfter(bool, ServerStop),
    /// Drop it, and write these bytes in its place.
    Replace(Vec<u8>),
}

/// The error for a message that came where another one was expected.
pub(super) fn unexpected(tag: u8, expected: &'static str) -> ServerMisbehaved {
    ServerMisbehaved::Unexpected { tag, expected }
}
