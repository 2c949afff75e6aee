//! An answer that a server connection owes, and its place among all others.

use super::expect::{Expect, Fate};

/// The order of all answers that were ever owed by a connection: only comparisons mean something.
pub(crate) type Place = u64;

/// An expected answer.
#[derive(Debug)]
pub struct Reply {
    /// What the server will send.
    pub expect: Expect,
    /// Greater than that of all before it.
    pub(super) place: Place,
}

impl Reply {
    /// Whether it answers work of ours, ahead of a turn or within one: what the server says beside it reaches nobody.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.expect.fate == Fate::Skip
    }
}
