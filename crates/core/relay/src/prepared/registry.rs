//! The global record: text and parameter types to one name, shared by all workers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

/// A statement's number; 0 is no statement.
pub type StatementId = u64;

/// What the names of shared statements on servers begin with.
pub(crate) const NAME_PREFIX: &[u8] = b"_tl_";

/// Locks of the registry: Parse messages of different workers seldom meet.
const SHARDS: usize = 16;

/// What an entry costs beside its text: the record, its name, the map's slot.
const ENTRY_OVERHEAD_BYTES: usize = 160;

/// One distinct statement.
#[derive(Debug)]
pub struct Statement {
    /// Unique in the process, never used again.
    pub id: StatementId,
    /// Its name on servers.
    pub name: Box<[u8]>,
    /// A Parse message's body behind the name: the query with its zero byte, then the parameter types. Empty when that was
    /// too long to be kept.
    pub body: Box<[u8]>,
}

impl Statement {
    /// Whether its text is known, so that any server connection can be given it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !self.body.is_empty()
    }

    fn bytes(&self) -> usize {
        self.body.len() + ENTRY_OVERHEAD_BYTES
    }
}

#[derive(Debug, Default)]
struct Shard {
    by_body: HashMap<Box<[u8]>, Arc<Statement>, RandomState>,
    bytes: usize,
}

/// All statements that some client has prepared, and as many forgotten ones as `bytes_max` allows.
#[derive(Debug)]
pub struct Registry {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    next: AtomicU64,
    bytes_max: usize,
    evicted: AtomicU64,
}

impl Registry {
    /// Keeps at most `bytes_max` of statements that no client holds.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            hasher: RandomState::default(),
            shards: Default::default(),
            next: AtomicU64::new(1),
            bytes_max,
            evicted: AtomicU64::new(0),
        }
    }

    /// The record of a statement (a Parse body behind the name), made when it is new.
    pub fn intern(&self, body: &[u8]) -> Arc<Statement> {
        let shard = &self.shards[usize::try_from(self.hasher.hash_one(body) >> 32).unwrap_or(0) % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shard.by_body.get(body) {
            return Arc::clone(known);
        }
        let statement = self.fresh(body);
        if shard.bytes + statement.bytes() > self.bytes_max / SHARDS {
            self.sweep(&mut shard);
        }
        shard.bytes += statement.bytes();
        shard.by_body.insert(body.into(), Arc::clone(&statement));
        statement
    }

    fn fresh(&self, body: &[u8]) -> Arc<Statement> {
        let id = self.fresh_id();
        let name = [NAME_PREFIX, id.to_string().as_bytes()].concat().into();
        Arc::new(Statement { id, name, body: body.into() })
    }

    /// A statement of one client's, whose text is not kept.
    pub fn unshared(&self) -> Arc<Statement> {
        self.fresh(b"")
    }

    /// A number for a statement that is not shared (a client's unnamed one).
    pub fn fresh_id(&self) -> StatementId {
        self.next.fetch_add(1, Relaxed)
    }

    /// Drops what no client holds. What clients hold is bounded by their own limits.
    fn sweep(&self, shard: &mut Shard) {
        let before = shard.by_body.len();
        shard.by_body.retain(|_, statement| Arc::strong_count(statement) > 1);
        shard.bytes = shard.by_body.values().map(|statement| statement.bytes()).sum();
        self.evicted.fetch_add((before - shard.by_body.len()) as u64, Relaxed);
    }

    /// Statements recorded now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).by_body.len())
            .sum()
    }

    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes recorded now, and statements dropped so far.
    #[must_use]
    pub fn usage(&self) -> (usize, u64) {
        let bytes =
            self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).bytes).sum();
        (bytes, self.evicted.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_statements_share_a_name() {
        let registry = Registry::new(1 << 20);
        let a = registry.intern(b"SELECT 1\0\0\0");
        let b = registry.intern(b"SELECT 1\0\0\0");
        let c = registry.intern(b"SELECT 1\0\0\x01\0\0\0\x17");
        assert_eq!(a.name, b.name);
        assert_ne!(a.name, c.name);
    }

    #[test]
    fn what_nobody_holds_is_dropped_at_the_bound() {
        let registry = Registry::new(64 << 10);
        let held = registry.intern(b"held\0\0\0");
        for n in 0..10_000 {
            registry.intern(format!("SELECT {n}\0\0\0").as_bytes());
        }
        assert!(registry.usage().0 <= 64 << 10);
        assert!(Arc::ptr_eq(&held, &registry.intern(b"held\0\0\0")));
    }
}
