//! What messages under way may do to a session.

use super::unsettled::Unsettled;
use crate::text::Effects;

/// What the turns that a client has under way may do, as far as that is known before they are answered.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Whether they may change settings.
    pub(crate) settings: Unsettled,
    /// A command that changes definitions was run in the transaction under way.
    pub(crate) redefines: bool,
    /// What was sent may begin a transaction.
    pub(crate) begins: bool,
    /// Something was sent that may do more than read and write rows.
    pub(crate) beyond_rows: bool,
    /// A DEALLOCATE or DISCARD was prepared or bound.
    pub(crate) forgets: bool,
}

impl Pending {
    /// A statement with these effects was prepared, and may be run.
    pub(crate) fn prepared(&mut self, effects: &Effects) {
        self.forgets |= effects.forgets;
        self.begins |= effects.begins_transaction;
    }
}
