//! What one client has prepared, by its own names.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::{Statement, StatementId};

/// A client's unnamed statement: it is nobody else's, so it is in no registry.
#[derive(Clone, Debug)]
pub struct Unnamed {
    /// Unique in the process.
    pub id: StatementId,
    /// A Parse message's body behind the name.
    pub body: Arc<[u8]>,
}

/// A client's names for statements.
#[derive(Debug, Default)]
pub struct ClientStatements {
    names: HashMap<Box<[u8]>, Arc<Statement>, RandomState>,
}

impl ClientStatements {
    /// The statement of that name.
    #[inline]
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Option<&Arc<Statement>> {
        self.names.get(name)
    }

    /// Gives a name to a statement.
    pub fn insert(&mut self, name: &[u8], statement: Arc<Statement>) {
        self.names.insert(name.into(), statement);
    }

    /// Forgets a name.
    pub fn remove(&mut self, name: &[u8]) -> Option<Arc<Statement>> {
        self.names.remove(name)
    }

    /// Forgets all names (DEALLOCATE ALL, DISCARD ALL).
    pub fn clear(&mut self) {
        self.names = HashMap::default();
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
