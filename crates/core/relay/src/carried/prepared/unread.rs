//! Statements whose reading is not known yet.

use std::sync::Arc;

use super::Statement;
use crate::carried::parameters::Profile;

/// Statements kept before those that nobody means any more are looked for.
const SWEPT_ABOVE_LEAST: usize = 16;

/// Statements of turns under way. There are at most about twice as many as the client, its server connection and the answers
/// due hold: each of those has its own bound.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    statements: Vec<Arc<Statement>>,
    swept_above: usize,
}

impl Unread {
    pub(crate) fn push(&mut self, statement: Arc<Statement>) {
        if self.statements.len() >= self.swept_above.max(SWEPT_ABOVE_LEAST) {
            self.statements.retain(|statement| Arc::strong_count(statement) > 1);
            self.swept_above = 2 * self.statements.len();
        }
        self.statements.push(statement);
    }

    /// The turns are over, with these settings.
    pub(crate) fn read_under(&mut self, profile: &Arc<Profile>) {
        self.statements.drain(..).for_each(|statement| statement.read_under(profile));
        self.swept_above = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Registry;
    use super::*;

    #[test]
    fn what_nobody_means_any_more_is_not_kept() {
        let registry = Registry::new(0);
        let schema = Arc::default();
        let private = |n: usize| {
            let body = format!("select {n}\0\0\0");
            let profile = Profile::default();
            let parsed = super::super::Parsed::new(body.as_bytes(), &profile, &schema, 1);
            registry.private(parsed, &mut |bytes: &mut [u8]| bytes.fill(7))
        };
        let mut unread = Unread::default();
        let held: Vec<_> = (0..50).map(&private).collect();
        held.iter().for_each(|statement| unread.push(Arc::clone(statement)));
        for n in 0..10_000 {
            unread.push(private(n));
            assert!(unread.statements.len() <= 2 * held.len());
        }
        unread.read_under(&Arc::default());
        assert!(held.iter().all(|statement| statement.reading().is_some()));
    }
}
