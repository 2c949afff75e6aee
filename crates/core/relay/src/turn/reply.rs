//! An answer that a server connection owes, and its place in the queue.

use super::expect::{Expect, Fate};

/// The number of an answer among all answers that the connection has ever owed. Only comparisons of places mean something.
pub(crate) type Place = u64;

/// An expected answer.
#[derive(Debug)]
pub struct Reply {
    /// What we know about the answer.
    pub expect: Expect,
    /// Greater than the place of every answer before it.
    pub(super) place: Place,
}

impl Reply {
    /// Whether it answers a message of our own. Then the client gets neither the answer nor the notices that come with it.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.expect.fate == Fate::Discard
    }
}
