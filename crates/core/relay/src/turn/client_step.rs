//! What is done with a frame of a client's.

use crate::error::ClientMisbehaved;

/// Why [`from_client`](super::from_client) returned.
#[derive(Debug)]
pub(crate) enum ClientStop {
    /// All is dealt with but what is returned as not consumed: the beginning of a message.
    More,
    /// The client's share of the round is used up.
    Share,
    /// Others wait for the server connection: what came next waits until all turns before it are answered.
    Yield,
    /// A text has to be parsed, and the round's share of that is used up.
    Later,
    /// The client says good-bye.
    Terminate,
    /// The client broke the protocol or a limit.
    Fault(ClientMisbehaved),
}

/// What is done with a frame.
pub(super) enum Step {
    /// It goes to the server as it is, its rest too when it is not all there yet.
    Pass,
    /// It goes nowhere.
    Drop,
    /// This many bytes of its beginning were replaced; the rest goes as it is.
    Replaced(usize),
    /// More of it is needed first.
    Wait,
    /// What it is has to be known first, and nothing more is parsed in this round.
    Later,
    /// Good-bye.
    Terminate,
}
