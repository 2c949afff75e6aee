//! What one client has prepared, by its own names.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foldhash::fast::RandomState;

use super::{Shape, Statement, StatementId};

/// A client's unnamed statement: it is nobody else's, so it is in no registry.
#[derive(Clone, Debug)]
pub struct Unnamed {
    /// Unique in the process.
    pub id: StatementId,
    /// A Parse message's body behind the name; empty when that was too long to be kept.
    pub body: Arc<[u8]>,
}

impl Unnamed {
    /// Whether its text is known, so that it can be prepared anew.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.body.is_empty()
    }
}

/// A client's names for statements.
#[derive(Debug, Default)]
pub struct ClientStatements {
    names: HashMap<Box<[u8]>, Arc<Named>, RandomState>,
}

/// A statement under a client's name.
#[derive(Debug)]
pub struct Named {
    /// The statement.
    pub statement: Arc<Statement>,
    /// A [`Shape`]; shared between the name and the answers that are owed for it.
    shape: AtomicU64,
}

impl Named {
    /// The result that the client was told of when it had the statement described: it reads later answers by that.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape::from_bits(self.shape.load(Relaxed))
    }

    /// The client is told of the result.
    pub fn describe(&self, shape: Shape) {
        self.shape.store(shape.to_bits(), Relaxed);
    }
}

impl ClientStatements {
    /// The statement of that name.
    #[inline]
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Option<&Arc<Statement>> {
        self.names.get(name).map(|named| &named.statement)
    }

    /// The statement of that name, with what the client knows of it.
    #[inline]
    #[must_use]
    pub fn entry(&self, name: &[u8]) -> Option<&Arc<Named>> {
        self.names.get(name)
    }

    /// Gives a name to a statement.
    pub fn insert(&mut self, name: &[u8], statement: Arc<Statement>) {
        self.names.insert(name.into(), Arc::new(Named { statement, shape: AtomicU64::new(0) }));
    }

    /// Forgets a name.
    pub fn remove(&mut self, name: &[u8]) -> Option<Arc<Statement>> {
        self.names.remove(name).map(|named| Arc::clone(&named.statement))
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
