//! What the turn under way resets, as far as that has been answered.

use std::collections::VecDeque;

use crate::carried::parameters::is_reset_by_all;
use crate::text::Reset;

/// What a turn resets and sets of its client's parameters, in order; the last word on a parameter counts.
///
/// A reset and a setting take the place of their like in their transaction: there are as many as a client has parameters.
#[derive(Debug, Default)]
pub(crate) struct Resets {
    /// What stays, whatever becomes of the turn.
    committed: Vec<Reset>,
    /// What was sent before the first COMMIT or ROLLBACK that is not answered: it may be rolled back.
    open: Vec<Reset>,
    /// That end, and what was sent after it.
    later: VecDeque<Reset>,
}

/// Whether it ends a transaction, or a part of one.
fn is_end(reset: &Reset) -> bool {
    matches!(reset, Reset::End | Reset::EndOfPart)
}

/// Whether its effect ends with the transaction.
fn is_local(reset: &Reset) -> bool {
    matches!(reset, Reset::LocalDefault(_) | Reset::LocalSet(_))
}

/// Whether a reset brings the parameter back.
fn resets(reset: &Reset, name: &str) -> bool {
    match reset {
        Reset::Parameter(own) => **own == *name,
        Reset::All => is_reset_by_all(name),
        Reset::Session => true,
        Reset::Set(_) | Reset::LocalDefault(_) | Reset::LocalSet(_) | Reset::End | Reset::EndOfPart => false,
    }
}

/// Removes its like, and puts it at the end.
fn push(list: &mut Vec<Reset>, reset: Reset) {
    list.retain(|known| *known != reset);
    list.push(reset);
}

impl Resets {
    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.later.is_empty() && self.committed.is_empty()
    }

    /// A command that does this is sent. `is_known`: whether its client has a value of the parameter. Others have no
    /// start-up value to be brought back.
    pub(crate) fn add(&mut self, reset: &Reset, is_known: bool) {
        // A setting says something only of a reset before it. An end is answered in its turn, whatever comes before it.
        let follows = matches!(reset, Reset::Set(_) | Reset::LocalSet(_));
        // The first reset is kept whatever it is of: that there is one counts.
        let counts = if self.is_empty() { !follows } else { is_known };
        if !counts {
            return;
        }
        if self.later.is_empty() && !is_end(reset) {
            return push(&mut self.open, reset.clone());
        }
        let transaction = self.later.iter().rev().take_while(|known| !is_end(known));
        if let Some(at) = transaction.clone().position(|known| known == reset) {
            self.later.remove(self.later.len() - 1 - at);
        }
        self.later.push_back(reset.clone());
    }

    /// The next command was run that ends a transaction, or a part of one.
    pub(crate) fn transaction_ended(&mut self, committed: bool) {
        match (self.later.pop_front(), committed) {
            (None, _) => return,
            (Some(_), true) => {
                for reset in self.open.drain(..).filter(|reset| !is_local(reset)) {
                    push(&mut self.committed, reset);
                }
            }
            (Some(Reset::End), false) => self.open.clear(),
            // ROLLBACK TO: the server's values say which of the resets were undone.
            (Some(_), false) => {}
        }
        let next = self.later.iter().position(is_end).unwrap_or(self.later.len());
        for reset in self.later.drain(..next) {
            push(&mut self.open, reset);
        }
    }

    /// DISCARD ALL was run, which is a transaction of its own.
    pub(crate) fn discarded(&mut self) {
        let end = self.open.iter().position(|reset| *reset == Reset::Session).map_or(0, |at| at + 1);
        self.open.drain(..end);
        self.committed = vec![Reset::Session];
    }

    /// The turn has failed.
    pub(crate) fn roll_back(&mut self) {
        self.open.clear();
        self.later.clear();
    }

    /// From the last to the first.
    fn backwards(&self) -> impl Iterator<Item = &Reset> {
        self.later.iter().rev().chain(self.open.iter().rev()).chain(self.committed.iter().rev())
    }

    /// Whether a parameter's start-up value comes back. `is_default`: the server connection has its own default, as it has
    /// after a reset; if not, something has set the parameter since that cannot be read off a text, or the reset was undone.
    pub(crate) fn bring_back(&self, name: &str, is_default: bool) -> bool {
        let sets = |reset: &Reset| matches!(reset, Reset::Set(own) if **own == *name);
        let last = self.backwards().find(|reset| sets(reset) || resets(reset, name));
        is_default && last.is_some_and(|last| !sets(last))
    }

    /// The same for the rest of the transaction.
    pub(crate) fn bring_back_locally(&self, name: &str, is_default: bool) -> bool {
        let of_it = |reset: &&Reset| match reset {
            Reset::Set(own) | Reset::LocalDefault(own) | Reset::LocalSet(own) => **own == *name,
            other => resets(other, name),
        };
        is_default && matches!(self.backwards().find(of_it), Some(Reset::LocalDefault(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(added: &[Reset]) -> Resets {
        let mut resets = Resets::default();
        for reset in added {
            resets.add(reset, true);
        }
        resets
    }

    fn x() -> Reset {
        Reset::Parameter("x".into())
    }

    /// The answer to an end before the first reset was taken for that of the end after it.
    #[test]
    fn an_end_before_the_first_reset_is_answered_first() {
        for (last, comes_back) in [(true, true), (false, false)] {
            let mut resets = of(&[Reset::End, x(), Reset::End]);
            resets.transaction_ended(false);
            resets.transaction_ended(last);
            assert_eq!(resets.bring_back("x", true), comes_back, "{last}");
        }
    }

    #[test]
    fn what_is_committed_survives_the_turns_failure() {
        let mut resets = of(&[x(), Reset::End, Reset::Parameter("y".into())]);
        resets.transaction_ended(true);
        resets.roll_back();
        assert!(resets.bring_back("x", true) && !resets.bring_back("y", true));
    }

    #[test]
    fn what_is_rolled_back_does_not() {
        let mut resets = of(&[x(), Reset::End, Reset::End]);
        resets.transaction_ended(false);
        resets.transaction_ended(true);
        assert!(resets.is_empty());
        let mut resets = of(&[Reset::LocalDefault("x".into()), Reset::End]);
        assert!(resets.bring_back_locally("x", true));
        resets.transaction_ended(true);
        assert!(resets.is_empty(), "what is local is over");
        let mut resets = of(&[x(), Reset::EndOfPart, Reset::End]);
        resets.transaction_ended(false);
        resets.transaction_ended(true);
        assert!(resets.bring_back("x", true));
    }

    #[test]
    fn as_much_is_kept_as_there_are_parameters() {
        let mut resets = of(&[]);
        for _ in 0..1000 {
            resets.add(&x(), true);
            resets.add(&Reset::Set("x".into()), true);
            resets.add(&Reset::Parameter("nobody's".into()), false);
        }
        assert_eq!(resets.open.len(), 2);
        for end in [Reset::End, Reset::EndOfPart] {
            resets.add(&end, true);
            for _ in 0..1000 {
                resets.add(&x(), true);
                resets.add(&end, true);
            }
            for _ in 0..1001 {
                resets.transaction_ended(end == Reset::End);
                assert!(resets.open.len() + resets.committed.len() <= 3);
            }
        }
        assert!(resets.later.is_empty());
    }
}
