//! Statements of which we do not know yet under which settings the server has parsed them.

use std::sync::Arc;

use super::Statement;
use crate::carried::parameters::Profile;

/// With this many statements, those that nothing else holds are dropped for the first time.
const FIRST_SWEEP: usize = 16;

/// Such statements of a client's unfinished turns. There are at most about twice as many as the client, its server connection
/// and the expected answers hold, and each of those has its own bound.
#[derive(Debug, Default)]
pub(crate) struct WithoutParseSettings {
    statements: Vec<Arc<Statement>>,
    next_sweep: usize,
}

impl WithoutParseSettings {
    pub(crate) fn push(&mut self, statement: Arc<Statement>) {
        if self.statements.len() >= self.next_sweep.max(FIRST_SWEEP) {
            self.statements.retain(|statement| Arc::strong_count(statement) > 1);
            self.next_sweep = 2 * self.statements.len();
        }
        self.statements.push(statement);
    }

    /// All turns are answered, and the client has these settings: they count for all the statements.
    pub(crate) fn set_parse_settings(&mut self, profile: &Arc<Profile>) {
        self.statements.drain(..).for_each(|statement| statement.set_parse_settings(profile));
        self.next_sweep = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Registry;
    use super::*;

    #[test]
    fn statements_that_nothing_else_holds_are_dropped() {
        let registry = Registry::new(0);
        let schema = Arc::default();
        let private = |n: usize| {
            let body = format!("select {n}\0\0\0");
            let profile = Profile::default();
            let parsed = super::super::ParseRequest::new(body.as_bytes(), &profile, &schema, 1);
            registry.private(parsed, &mut |bytes: &mut [u8]| bytes.fill(7))
        };
        let mut waiting = WithoutParseSettings::default();
        let held: Vec<_> = (0..50).map(&private).collect();
        held.iter().for_each(|statement| waiting.push(Arc::clone(statement)));
        for n in 0..10_000 {
            waiting.push(private(n));
            assert!(waiting.statements.len() <= 2 * held.len());
        }
        waiting.set_parse_settings(&Arc::default());
        assert!(held.iter().all(|statement| statement.parse_settings().is_some()));
    }
}
