//! Statements by their text, least recently used out.

use std::collections::HashMap;

use super::Statement;

/// At most as many statements as it was made for.
#[derive(Debug)]
pub(crate) struct StatementCache {
    statements_max: usize,
    statements: HashMap<Box<str>, (Statement, u64)>,
    uses: u64,
}

impl StatementCache {
    pub(crate) fn new(statements_max: usize) -> Self {
        Self { statements_max, statements: HashMap::new(), uses: 0 }
    }

    /// Whether it keeps any.
    pub(crate) fn keeps(&self) -> bool {
        self.statements_max > 0
    }

    pub(crate) fn get(&mut self, text: &str) -> Option<Statement> {
        self.uses += 1;
        let (statement, used) = self.statements.get_mut(text)?;
        *used = self.uses;
        Some(statement.clone())
    }

    /// Puts a statement in; one that was not used for longest goes.
    pub(crate) fn insert(&mut self, text: &str, statement: &Statement) {
        if self.statements.len() >= self.statements_max {
            // It costs less than preparing the statement that comes in.
            let oldest = self.statements.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                self.statements.remove(&oldest);
            }
        }
        self.uses += 1;
        self.statements.insert(text.into(), (statement.clone(), self.uses));
    }

    pub(crate) fn remove(&mut self, text: &str) {
        self.statements.remove(text);
    }

    /// Forgets all, as DISCARD ALL and DEALLOCATE ALL do.
    pub(crate) fn clear(&mut self) {
        self.statements.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.statements.len()
    }
}
