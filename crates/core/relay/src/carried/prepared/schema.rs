//! Counts the changes of a database's definitions (tables, types, ...) that we see. A statement that was parsed before a change
//! may be outdated.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// The changes of one database on one server. Several names of clients can mean the same database.
#[derive(Debug, Default)]
pub struct Schema {
    changes: AtomicU64,
}

impl Schema {
    /// The number of changes so far.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.changes.load(SeqCst)
    }

    /// Counts a change: a command that changes definitions was run, or its transaction has ended.
    pub fn changed(&self) {
        self.changes.fetch_add(1, SeqCst);
    }
}

/// The change counts of all databases in use.
#[derive(Debug, Default)]
pub struct Schemas {
    known: Mutex<HashMap<(String, u16, String), Arc<Schema>>>,
}

impl Schemas {
    /// The changes of a database, by host, port and its name on the server.
    pub fn find_or_add(&self, host: &str, port: u16, database: &str) -> Arc<Schema> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port, database.to_owned());
        if let Some(schema) = known.get(&key) {
            return Arc::clone(schema);
        }
        // Drop the records of databases that no pool uses any more.
        known.retain(|_, schema| Arc::strong_count(schema) > 1);
        Arc::clone(known.entry(key).or_default())
    }
}

/// Whether a command with this tag changes definitions, so that names and types in a statement may get another meaning. No tag
/// shows the changes that a function or a DO makes.
#[must_use]
pub fn changes_definitions(tag: &[u8]) -> bool {
    let first = tag.split(|byte| matches!(byte, b' ' | 0)).next().unwrap_or_default();
    matches!(first, b"CREATE" | b"ALTER" | b"DROP" | b"IMPORT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_database_has_one_record() {
        let schemas = Schemas::default();
        let (a, b) = (schemas.find_or_add("h", 5432, "d"), schemas.find_or_add("h", 5432, "d"));
        a.changed();
        assert_eq!(b.version(), 1);
        assert_eq!(schemas.find_or_add("h", 5432, "e").version(), 0);
    }

    #[test]
    fn ddl_changes_definitions() {
        for tag in [&b"ALTER TABLE\0"[..], b"CREATE TYPE\0", b"DROP FUNCTION\0", b"IMPORT FOREIGN SCHEMA\0"] {
            assert!(changes_definitions(tag));
        }
        for tag in [&b"SELECT 1\0"[..], b"INSERT 0 1\0", b"GRANT\0", b"CREATED\0", b"\0", b""] {
            assert!(!changes_definitions(tag));
        }
    }
}
