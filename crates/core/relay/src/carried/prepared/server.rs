//! The statements that are prepared on one server connection, in the order of their last use.

use hashlink::LruCache;
use std::sync::Arc;

use super::{Shape, Statement, StatementId};

/// The prepared statements of one server connection.
#[derive(Debug)]
pub struct ServerStatements {
    present: LruCache<StatementId, Present, foldhash::fast::RandomState>,
    /// The unnamed statement that the server has, if we know it.
    pub unnamed: Option<StatementId>,
}

#[derive(Debug)]
struct Present {
    statement: Arc<Statement>,
    shape: Shape,
}

impl Default for ServerStatements {
    fn default() -> Self {
        Self {
            present: LruCache::with_hasher(usize::MAX, foldhash::fast::RandomState::default()),
            unnamed: None,
        }
    }
}

impl ServerStatements {
    /// Whether the server has the statement. If so, the statement counts as the one used last.
    #[inline]
    pub fn touch(&mut self, id: StatementId) -> bool {
        self.present.get(&id).is_some()
    }

    /// The format of the statement's result on this server; unknown if the server lacks the statement or was not asked.
    pub fn shape(&mut self, id: StatementId) -> Shape {
        self.present.get(&id).map_or(Shape::UNKNOWN, |present| present.shape)
    }

    /// Notes the format of the statement's result, which the server has told.
    pub fn set_shape(&mut self, id: StatementId, shape: Shape) {
        if let Some(present) = self.present.get_mut(&id) {
            present.shape = shape;
        }
    }

    /// Notes that the server gets the statement.
    pub fn insert(&mut self, statement: Arc<Statement>) {
        self.present.insert(statement.id, Present { statement, shape: Shape::UNKNOWN });
    }

    /// Takes out the least recently used statement if there is no room for one more within `max`. The caller must close it on
    /// the server.
    pub fn evict(&mut self, max: usize) -> Option<Arc<Statement>> {
        if self.present.len() < max.max(1) {
            return None;
        }
        self.present.remove_lru().map(|(_, present)| present.statement)
    }

    /// The statement, if the server has it.
    pub fn get(&mut self, id: StatementId) -> Option<Arc<Statement>> {
        self.present.get(&id).map(|present| Arc::clone(&present.statement))
    }

    /// Notes that the server does not have the statement.
    pub fn remove(&mut self, id: StatementId) {
        self.present.remove(&id);
    }

    /// Notes that the server has no named statements any more (DEALLOCATE ALL, DISCARD ALL).
    pub fn clear(&mut self) {
        self.present.clear();
    }

    /// The names of all statements, the least recently used first.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.present.iter().map(|(_, present)| present.statement.name())
    }

    /// The number of named statements on the server.
    #[must_use]
    pub fn len(&self) -> usize {
        self.present.len()
    }

    /// Whether the server has neither named statements nor an unnamed one.
    #[must_use]
    pub fn has_no_statements(&self) -> bool {
        self.present.is_empty() && self.unnamed.is_none()
    }

    /// Whether the server has no named statement.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carried::prepared::Registry;

    #[test]
    fn the_least_recently_used_is_evicted() {
        let registry = Registry::new(1 << 20);
        let [a, b, c] = ["a", "b", "c"].map(|text| registry.plain(text.as_bytes()));
        let mut server = ServerStatements::default();
        server.insert(Arc::clone(&a));
        server.insert(Arc::clone(&b));
        assert!(server.touch(a.id));
        assert!(server.evict(3).is_none());
        assert_eq!(server.evict(2).map(|statement| statement.id), Some(b.id));
        server.insert(c);
        assert!(server.touch(a.id) && !server.touch(b.id) && server.len() == 2);
    }
}
