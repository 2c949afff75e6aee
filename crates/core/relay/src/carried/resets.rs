//! The parameters that a client's unfinished turn resets or sets.

use std::collections::VecDeque;

use crate::carried::parameters::is_reset_by_all;
use crate::text::SettingChange;

/// The resets and settings of a turn, in the order of its commands. For each parameter the last one counts.
///
/// An entry replaces an equal one of the same transaction. So the number of entries is bounded by the number of the client's
/// parameters.
#[derive(Debug, Default)]
pub(crate) struct Resets {
    /// Committed changes: they stay even if the turn fails.
    committed: Vec<SettingChange>,
    /// Changes before the first COMMIT or ROLLBACK that is not answered. They may be rolled back.
    uncommitted: Vec<SettingChange>,
    /// That COMMIT or ROLLBACK, and the changes after it.
    after_end: VecDeque<SettingChange>,
}

/// Whether the command ends a transaction, or rolls back a part of one.
fn ends_transaction(reset: &SettingChange) -> bool {
    matches!(reset, SettingChange::TransactionEnd | SettingChange::RollbackToSavepoint)
}

/// Whether the change lasts only until the transaction ends.
fn is_local(reset: &SettingChange) -> bool {
    matches!(reset, SettingChange::ToDefaultLocally(_) | SettingChange::SetLocally(_))
}

/// Whether the change resets the parameter `name`.
fn is_reset_by(reset: &SettingChange, name: &str) -> bool {
    match reset {
        SettingChange::ToDefault(own) => **own == *name,
        SettingChange::ResetAll => is_reset_by_all(name),
        SettingChange::DiscardAll => true,
        SettingChange::Set(_)
        | SettingChange::ToDefaultLocally(_)
        | SettingChange::SetLocally(_)
        | SettingChange::TransactionEnd
        | SettingChange::RollbackToSavepoint => false,
    }
}

/// Puts a change at the end of the list, and removes an equal one.
fn push(list: &mut Vec<SettingChange>, reset: SettingChange) {
    list.retain(|known| *known != reset);
    list.push(reset);
}

impl Resets {
    fn is_empty(&self) -> bool {
        self.uncommitted.is_empty() && self.after_end.is_empty() && self.committed.is_empty()
    }

    /// A command with this change was sent. `client_has_value` says whether the client has a value of the parameter: if not, it
    /// has no start-up value that could come back.
    pub(crate) fn add(&mut self, reset: &SettingChange, client_has_value: bool) {
        // A setting matters only if a reset came before it. The end of a transaction always counts, because its answer will
        // come.
        let is_setting = matches!(reset, SettingChange::Set(_) | SettingChange::SetLocally(_));
        // The first reset is kept for any parameter, because it matters that there is a reset.
        let counts = if self.is_empty() { !is_setting } else { client_has_value };
        if !counts {
            return;
        }
        if self.after_end.is_empty() && !ends_transaction(reset) {
            return push(&mut self.uncommitted, reset.clone());
        }
        let transaction = self.after_end.iter().rev().take_while(|known| !ends_transaction(known));
        if let Some(at) = transaction.clone().position(|known| known == reset) {
            self.after_end.remove(self.after_end.len() - 1 - at);
        }
        self.after_end.push_back(reset.clone());
    }

    /// The server has answered the next command that ends a transaction or rolls back a part of one.
    pub(crate) fn transaction_ended(&mut self, committed: bool) {
        match (self.after_end.pop_front(), committed) {
            (None, _) => return,
            (Some(_), true) => {
                for reset in self.uncommitted.drain(..).filter(|reset| !is_local(reset)) {
                    push(&mut self.committed, reset);
                }
            }
            (Some(SettingChange::TransactionEnd), false) => self.uncommitted.clear(),
            // After a ROLLBACK TO SAVEPOINT, the values that the server reports say which resets were undone.
            (Some(_), false) => {}
        }
        let next = self.after_end.iter().position(ends_transaction).unwrap_or(self.after_end.len());
        for reset in self.after_end.drain(..next) {
            push(&mut self.uncommitted, reset);
        }
    }

    /// The server has run DISCARD ALL, which is a transaction of its own.
    pub(crate) fn discard_all_done(&mut self) {
        let end = self
            .uncommitted
            .iter()
            .position(|reset| *reset == SettingChange::DiscardAll)
            .map_or(0, |at| at + 1);
        self.uncommitted.drain(..end);
        self.committed = vec![SettingChange::DiscardAll];
    }

    /// The turn has failed.
    pub(crate) fn roll_back(&mut self) {
        self.uncommitted.clear();
        self.after_end.clear();
    }

    /// All changes, the last one first.
    fn newest_first(&self) -> impl Iterator<Item = &SettingChange> {
        self.after_end.iter().rev().chain(self.uncommitted.iter().rev()).chain(self.committed.iter().rev())
    }

    /// Whether the client gets a parameter's start-up value again. `is_default` says whether the server connection has the
    /// server's default, as it does after a reset. If it does not, the reset was undone, or something that no SQL text shows
    /// has set the parameter since.
    pub(crate) fn restores_startup_value(&self, name: &str, is_default: bool) -> bool {
        let sets = |reset: &SettingChange| matches!(reset, SettingChange::Set(own) if **own == *name);
        let last = self.newest_first().find(|reset| sets(reset) || is_reset_by(reset, name));
        is_default && last.is_some_and(|last| !sets(last))
    }

    /// Whether the client gets a parameter's start-up value again until the end of the transaction.
    pub(crate) fn restores_startup_value_locally(&self, name: &str, is_default: bool) -> bool {
        let concerns_name = |reset: &&SettingChange| match reset {
            SettingChange::Set(own)
            | SettingChange::ToDefaultLocally(own)
            | SettingChange::SetLocally(own) => **own == *name,
            other => is_reset_by(other, name),
        };
        is_default
            && matches!(self.newest_first().find(concerns_name), Some(SettingChange::ToDefaultLocally(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(added: &[SettingChange]) -> Resets {
        let mut resets = Resets::default();
        for reset in added {
            resets.add(reset, true);
        }
        resets
    }

    fn x() -> SettingChange {
        SettingChange::ToDefault("x".into())
    }

    /// The answer of a COMMIT before the first reset was mistaken for the answer of the COMMIT after it.
    #[test]
    fn the_answer_of_a_commit_before_the_first_reset_comes_first() {
        for (last, comes_back) in [(true, true), (false, false)] {
            let mut resets = of(&[SettingChange::TransactionEnd, x(), SettingChange::TransactionEnd]);
            resets.transaction_ended(false);
            resets.transaction_ended(last);
            assert_eq!(resets.restores_startup_value("x", true), comes_back, "{last}");
        }
    }

    #[test]
    fn a_committed_reset_survives_a_failure_of_the_turn() {
        let mut resets = of(&[x(), SettingChange::TransactionEnd, SettingChange::ToDefault("y".into())]);
        resets.transaction_ended(true);
        resets.roll_back();
        assert!(resets.restores_startup_value("x", true) && !resets.restores_startup_value("y", true));
    }

    #[test]
    fn a_reset_that_is_rolled_back_does_not_count() {
        let mut resets = of(&[x(), SettingChange::TransactionEnd, SettingChange::TransactionEnd]);
        resets.transaction_ended(false);
        resets.transaction_ended(true);
        assert!(resets.is_empty());
        let mut resets = of(&[SettingChange::ToDefaultLocally("x".into()), SettingChange::TransactionEnd]);
        assert!(resets.restores_startup_value_locally("x", true));
        resets.transaction_ended(true);
        assert!(resets.is_empty(), "a local reset ends with its transaction");
        let mut resets = of(&[x(), SettingChange::RollbackToSavepoint, SettingChange::TransactionEnd]);
        resets.transaction_ended(false);
        resets.transaction_ended(true);
        assert!(resets.restores_startup_value("x", true));
    }

    #[test]
    fn the_number_of_entries_is_bounded_by_the_number_of_parameters() {
        let mut resets = of(&[]);
        for _ in 0..1000 {
            resets.add(&x(), true);
            resets.add(&SettingChange::Set("x".into()), true);
            resets.add(&SettingChange::ToDefault("unknown".into()), false);
        }
        assert_eq!(resets.uncommitted.len(), 2);
        for end in [SettingChange::TransactionEnd, SettingChange::RollbackToSavepoint] {
            resets.add(&end, true);
            for _ in 0..1000 {
                resets.add(&x(), true);
                resets.add(&end, true);
            }
            for _ in 0..1001 {
                resets.transaction_ended(end == SettingChange::TransactionEnd);
                assert!(resets.uncommitted.len() + resets.committed.len() <= 3);
            }
        }
        assert!(resets.after_end.is_empty());
    }
}
