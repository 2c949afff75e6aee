//! Which changes of a server's schema are known of: a statement that is older than one may be outdated.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

/// One database of one server, whatever names clients have for it.
#[derive(Debug, Default)]
pub struct Schema {
    changes: AtomicU64,
}

impl Schema {
    /// How many changes there were.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.changes.load(SeqCst)
    }

    /// A command that changes definitions has been run, or its transaction is over.
    pub fn changed(&self) {
        self.changes.fetch_add(1, SeqCst);
    }
}

/// All databases in use.
#[derive(Debug, Default)]
pub struct Schemas {
    known: Mutex<HashMap<(String, u16, String), Arc<Schema>>>,
}

impl Schemas {
    /// The record of a database by host, port and its name on the server.
    pub fn of(&self, host: &str, port: u16, database: &str) -> Arc<Schema> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.to_owned(), port, database.to_owned());
        if let Some(schema) = known.get(&key) {
            return Arc::clone(schema);
        }
        // Nobody else holds those of pools that are gone.
        known.retain(|_, schema| Arc::strong_count(schema) > 1);
        Arc::clone(known.entry(key).or_default())
    }
}

/// Whether a command of that tag changes what a statement's names and types mean. What a function or DO changes has no
/// tag of its own.
#[must_use]
pub fn changes_definitions(tag: &[u8]) -> bool {
    let first = tag.split(|byte| matches!(byte, b' ' | 0)).next().unwrap_or_default();
    matches!(first, b"CREATE" | b"ALTER" | b"DROP" | b"IMPORT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_one_database_share_its_record() {
        let schemas = Schemas::default();
        let (a, b) = (schemas.of("h", 5432, "d"), schemas.of("h", 5432, "d"));
        a.changed();
        assert_eq!(b.version(), 1);
        assert_eq!(schemas.of("h", 5432, "e").version(), 0);
    }

    #[test]
    fn definitions_are_changed_by_ddl() {
        for tag in [&b"ALTER TABLE\0"[..], b"CREATE TYPE\0", b"DROP FUNCTION\0", b"IMPORT FOREIGN SCHEMA\0"] {
            assert!(changes_definitions(tag));
        }
        for tag in [&b"SELECT 1\0"[..], b"INSERT 0 1\0", b"GRANT\0", b"CREATED\0", b"\0", b""] {
            assert!(!changes_definitions(tag));
        }
    }
}
