//! What one client has prepared, by its own names.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foldhash::fast::RandomState;

use super::{Shape, Statement};

/// PostgreSQL keeps this many bytes of a statement's name (`NAMEDATALEN - 1`): names that begin alike that far are one.
const NAME_BYTES_MAX: usize = 63;

/// What a name costs beside its bytes: the record and its place in the table.
const ENTRY_OVERHEAD_BYTES: usize = 96;

/// A client's names for statements.
#[derive(Debug, Default)]
pub struct ClientStatements {
    names: HashSet<ByName, RandomState>,
    bytes: usize,
}

/// A statement under a client's name.
#[derive(Debug)]
pub struct Named {
    /// The client's name for it.
    pub name: Box<[u8]>,
    /// The statement.
    pub statement: Arc<Statement>,
    /// A [`Shape`]; shared between the name and the answers that are owed for it.
    shape: AtomicU64,
}

#[derive(Debug)]
struct ByName(Arc<Named>);

impl Borrow<[u8]> for ByName {
    fn borrow(&self) -> &[u8] {
        &self.0.name
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ByName {}

impl Hash for ByName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (*self.0.name).hash(state);
    }
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

    fn bytes(&self) -> usize {
        self.name.len() + self.statement.bytes() + ENTRY_OVERHEAD_BYTES
    }
}

/// As much of a name as counts.
#[inline]
#[must_use]
pub fn significant(name: &[u8]) -> &[u8] {
    &name[..name.len().min(NAME_BYTES_MAX)]
}

impl ClientStatements {
    /// The statement of that name.
    #[inline]
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Option<&Arc<Statement>> {
        self.entry(name).map(|named| &named.statement)
    }

    /// The statement of that name, with what the client knows of it.
    #[inline]
    #[must_use]
    pub fn entry(&self, name: &[u8]) -> Option<&Arc<Named>> {
        self.names.get(significant(name)).map(|entry| &entry.0)
    }

    /// Gives a name to a statement.
    pub fn insert(&mut self, name: &[u8], statement: Arc<Statement>) {
        self.remove(name);
        let named = Named { name: significant(name).into(), statement, shape: AtomicU64::new(0) };
        self.bytes += named.bytes();
        self.names.insert(ByName(Arc::new(named)));
    }

    /// Forgets a name.
    pub fn remove(&mut self, name: &[u8]) -> Option<Arc<Statement>> {
        let ByName(named) = self.names.take(significant(name))?;
        self.bytes -= named.bytes();
        Some(Arc::clone(&named.statement))
    }

    /// Forgets all names (DEALLOCATE ALL, DISCARD ALL).
    pub fn clear(&mut self) {
        *self = Self::default();
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

    /// What names and statements take, those counted too that others hold as well.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carried::prepared::Registry;

    #[test]
    fn names_count_as_far_as_postgresql_keeps_them() {
        let registry = Registry::new(1 << 20);
        let (a, b) = (registry.plain(b"a"), registry.plain(b"b"));
        let mut names = ClientStatements::default();
        let long = [b'n'; 900_000];
        names.insert(&long, Arc::clone(&a));
        assert!(names.bytes() < 1_000);
        assert!(names.named(&long[..63]).is_some_and(|found| Arc::ptr_eq(found, &a)));
        assert!(names.named(&long[..62]).is_none());
        names.insert(&long[..64], b);
        assert_eq!(names.len(), 1);
        names.remove(&long);
        assert_eq!((names.len(), names.bytes()), (0, 0));
    }
}
