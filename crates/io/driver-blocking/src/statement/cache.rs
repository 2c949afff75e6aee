//! Statements by their text, least recently used out.

use std::collections::HashMap;

use super::Statement;

/// At most as many statements as it was made for.
#[doc(hidden)]
#[derive(Debug)]
pub struct StatementCache<S = Statement> {
    statements_max: usize,
    statements: HashMap<Box<str>, (S, u64)>,
    uses: u64,
}

impl<S: Clone> StatementCache<S> {
    pub fn new(statements_max: usize) -> Self {
        Self { statements_max, statements: HashMap::new(), uses: 0 }
    }

    /// Whether it keeps any.
    pub fn keeps(&self) -> bool {
        self.statements_max > 0
    }

    pub fn get(&mut self, text: &str) -> Option<S> {
        self.uses += 1;
        let (statement, used) = self.statements.get_mut(text)?;
        *used = self.uses;
        Some(statement.clone())
    }

    /// Puts a statement in; one that was not used for longest goes.
    pub fn insert(&mut self, text: &str, statement: &S) {
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

    pub fn remove(&mut self, text: &str) {
        self.statements.remove(text);
    }

    /// Forgets all, as DISCARD ALL and DEALLOCATE ALL do.
    pub fn clear(&mut self) {
        self.statements.clear();
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.statements.len()
    }
}
