//! What unanswered messages may do to the session.

use super::unsettled::Unsettled;
use crate::text::Effects;

/// What a client's unanswered turns may do, as far as we know that before the answers.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Whether they may change settings.
    pub(crate) settings: Unsettled,
    /// A command that changes definitions was run in the current transaction.
    pub(crate) redefines: bool,
    /// A message may begin a transaction.
    pub(crate) begins: bool,
    /// A message may do more than read and write rows.
    pub(crate) not_only_rows: bool,
    /// A DEALLOCATE or DISCARD was prepared or bound.
    pub(crate) may_deallocate: bool,
}

impl Pending {
    /// A statement with these effects was prepared or bound, and may be executed.
    pub(crate) fn prepared(&mut self, effects: &Effects) {
        self.may_deallocate |= effects.may_deallocate;
        self.begins |= effects.begins_transaction;
    }
}
