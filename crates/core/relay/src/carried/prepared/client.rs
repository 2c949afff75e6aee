//! The statements that one client has prepared, by the client's names.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foldhash::fast::RandomState;

use super::{Shape, Statement};

/// PostgreSQL keeps this many bytes of a statement's name (`NAMEDATALEN - 1`). Names with the same first 63 bytes are equal.
const NAME_BYTES_MAX: usize = 63;

/// The memory of a name without its bytes: the record and its place in the table.
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
    /// A [`Shape`] as a number. It is atomic because expected answers share this record with the table of names.
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
    /// The format of the result that the client got when it had this statement described. The client expects later results in
    /// this format.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape::from_bits(self.shape.load(Relaxed))
    }

    /// Notes the format of the result that the client gets for a Describe.
    pub fn set_shape(&self, shape: Shape) {
        self.shape.store(shape.to_bits(), Relaxed);
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.statement.bytes() + ENTRY_OVERHEAD_BYTES
    }
}

/// The part of a name that PostgreSQL keeps.
#[inline]
#[must_use]
pub fn truncate_name(name: &[u8]) -> &[u8] {
    &name[..name.len().min(NAME_BYTES_MAX)]
}

impl ClientStatements {
    /// The statement with this name.
    #[inline]
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Option<&Arc<Statement>> {
        self.entry(name).map(|named| &named.statement)
    }

    /// The statement with this name, with its name and the shape that the client knows.
    #[inline]
    #[must_use]
    pub fn entry(&self, name: &[u8]) -> Option<&Arc<Named>> {
        self.names.get(truncate_name(name)).map(|entry| &entry.0)
    }

    /// Gives a name to a statement.
    pub fn insert(&mut self, name: &[u8], statement: Arc<Statement>) {
        self.remove(name);
        let named = Named { name: truncate_name(name).into(), statement, shape: AtomicU64::new(0) };
        self.bytes += named.bytes();
        self.names.insert(ByName(Arc::new(named)));
    }

    /// Removes a name.
    pub fn remove(&mut self, name: &[u8]) -> Option<Arc<Statement>> {
        let ByName(named) = self.names.take(truncate_name(name))?;
        self.bytes -= named.bytes();
        Some(Arc::clone(&named.statement))
    }

    /// Removes all names (DEALLOCATE ALL, DISCARD ALL).
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The memory of the names and their statements, in bytes. Statements that other clients have too are counted in full.
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
    fn names_are_compared_by_the_bytes_that_postgresql_keeps() {
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
