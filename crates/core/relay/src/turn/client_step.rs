//! What we do with a client's frame.

use crate::error::ClientMisbehaved;

/// Why [`from_client`](super::from_client) returned.
#[derive(Debug)]
pub(crate) enum ClientStop {
    /// Everything is processed except the part that was not consumed: an incomplete message, or one that must wait.
    More,
    /// The client has used up its share of the round.
    RoundShareUsed,
    /// Other clients wait for the server connection, so the next message waits until all earlier turns are answered.
    Yield,
    /// An SQL text must be parsed, but no more texts are parsed in this round.
    ParseBudgetUsed,
    /// The client has sent Terminate.
    Terminate,
    /// The client broke the protocol or a limit.
    Fault(ClientMisbehaved),
}

/// What we do with a frame.
pub(super) enum Step {
    /// It goes to the server unchanged, and so do its bytes that have not come yet.
    Pass,
    /// It is dropped.
    Drop,
    /// The step has written something in place of this many bytes of its beginning. The rest goes to the server unchanged.
    Replaced(usize),
    /// It waits, for its remaining bytes or for answers to earlier messages.
    Wait,
    /// It waits, because its SQL text must be parsed and no more texts are parsed in this round.
    ParseBudgetUsed,
    /// The client has sent Terminate.
    Terminate,
}
