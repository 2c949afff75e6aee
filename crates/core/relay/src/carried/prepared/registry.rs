//! The global record: text, parameter types and how they are read, to one statement; shared by all workers.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use trunkline_pool::Micros;
use trunkline_session::Entropy;

use super::statement::{Parsed, Statement, StatementId, fresh_name};
use crate::carried::parameters::Profile;
use crate::text::Literals;

/// Locks of the registry: Parse messages of different workers seldom meet.
const SHARDS: usize = 16;

#[derive(Debug, Default)]
struct Shard {
    statements: HashTable<Arc<Statement>>,
    bytes: usize,
    /// What nobody holds is looked for when there is more than this.
    sweep_above: usize,
}

/// All statements that clients share, and as many forgotten ones as `bytes_max` allows.
#[derive(Debug)]
pub struct Registry {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    next: AtomicU64,
    bytes_max: usize,
    evicted: AtomicU64,
    tended: AtomicUsize,
    in_use: Arc<AtomicUsize>,
}

impl Registry {
    /// Keeps statements that no client holds as long as all together take at most `bytes_max`.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            hasher: RandomState::default(),
            shards: Default::default(),
            next: AtomicU64::new(0),
            bytes_max,
            evicted: AtomicU64::new(0),
            tended: AtomicUsize::new(0),
            in_use: Arc::default(),
        }
    }

    /// The statement that a Parse is of: that of others whose text, types and reading are the same, unless it is
    /// outdated or older than `lifetime`; else a new one.
    pub fn intern(
        &self,
        parsed: Parsed<'_>,
        lifetime: Option<Micros>,
        entropy: &mut dyn Entropy,
    ) -> Arc<Statement> {
        let reading = parsed.profile.reading(Literals::of(parsed.text()));
        let hash = self.hasher.hash_one((parsed.body, Some(&**reading)));
        let same = |known: &Arc<Statement>| {
            *known.body() == *parsed.body
                && Arc::ptr_eq(&known.born.schema, parsed.schema)
                && known.reading().is_some_and(|known| Arc::ptr_eq(known, reading) || known == reading)
        };
        let shard = &self.shards[usize::try_from(hash >> 32).unwrap_or(0) % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(entry) = shard.statements.find_entry(hash, same) {
            if !entry.get().is_outdated(parsed.now, lifetime) {
                return Arc::clone(entry.get());
            }
            let (outdated, _) = entry.remove();
            shard.bytes -= outdated.bytes();
        }
        let id = self.fresh_id();
        let reading = OnceLock::from(Arc::clone(reading));
        let name = fresh_name(id, entropy);
        let statement = Arc::new(Statement::new(id, &name, parsed, reading, Arc::clone(&self.in_use)));
        if shard.bytes + statement.bytes() > shard.sweep_above.max(self.bytes_max / SHARDS) {
            self.sweep(&mut shard);
        }
        shard.bytes += statement.bytes();
        let rehash = |known: &Arc<Statement>| self.hash_of(known);
        shard.statements.insert_unique(hash, Arc::clone(&statement), rehash);
        statement
    }

    /// A statement that is its client's alone, and lives on one server connection: its text is too long to be kept.
    pub(crate) fn unkept(&self, parsed: Parsed<'_>, entropy: &mut dyn Entropy) -> Arc<Statement> {
        self.private(Parsed { body: b"", ..parsed }, entropy)
    }

    fn hash_of(&self, known: &Statement) -> u64 {
        self.hasher.hash_one((known.body(), known.reading().map(|reading| &**reading)))
    }

    /// A statement that is its client's alone: how it is read is not known yet.
    pub(crate) fn private(&self, parsed: Parsed<'_>, entropy: &mut dyn Entropy) -> Arc<Statement> {
        let id = self.fresh_id();
        let name = fresh_name(id, entropy);
        Arc::new(Statement::new(id, &name, parsed, OnceLock::new(), Arc::clone(&self.in_use)))
    }

    /// A client's unnamed statement; `reading`: the session's parameters, where they are known.
    pub(crate) fn unnamed(&self, parsed: Parsed<'_>, reading: Option<&Arc<Profile>>) -> Arc<Statement> {
        let known = reading.map_or_else(OnceLock::new, |reading| OnceLock::from(Arc::clone(reading)));
        Arc::new(Statement::new(self.fresh_id(), b"", parsed, known, Arc::clone(&self.in_use)))
    }

    /// A name for a statement or portal of ours on a server, used once: no client can have it.
    pub(crate) fn secret_name(&self, entropy: &mut dyn Entropy) -> Box<[u8]> {
        fresh_name(self.fresh_id(), entropy)
    }

    /// A number for a statement that is not shared.
    pub fn fresh_id(&self) -> StatementId {
        StatementId::MIN.saturating_add(self.next.fetch_add(1, Relaxed))
    }

    /// Drops what no client and no server connection holds. The next sweep is due when a quarter has come to what is
    /// kept: so a statement costs a bounded part of a sweep, however many are held.
    fn sweep(&self, shard: &mut Shard) {
        let before = shard.statements.len();
        shard.statements.retain(|statement| Arc::strong_count(statement) > 1);
        shard.bytes = shard.statements.iter().map(|statement| statement.bytes()).sum();
        shard.sweep_above = shard.bytes + shard.bytes / 4;
        let rehash = |known: &Arc<Statement>| self.hash_of(known);
        shard.statements.shrink_to_fit(rehash);
        self.evicted.fetch_add((before - shard.statements.len()) as u64, Relaxed);
    }

    /// Call a few times a second: what is above the bound goes though nobody parses anything new. One shard at a time.
    pub(crate) fn tend(&self) {
        let shard = &self.shards[self.tended.fetch_add(1, Relaxed) % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let unheld = |statement: &Arc<Statement>| Arc::strong_count(statement) == 1;
        if shard.bytes > self.bytes_max / SHARDS && shard.statements.iter().any(unheld) {
            self.sweep(&mut shard);
        }
    }

    /// Statements recorded now.
    #[must_use]
    pub fn len(&self) -> usize {
        let count =
            |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(PoisonError::into_inner).statements.len();
        self.shards.iter().map(count).sum()
    }

    /// Whether nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all statements there are (recorded, and those that only clients or server connections hold, unnamed ones
    /// too), and how many were dropped from the record so far.
    #[must_use]
    pub fn usage(&self) -> (usize, u64) {
        (self.in_use.load(Relaxed), self.evicted.load(Relaxed))
    }
}

#[cfg(test)]
impl Registry {
    /// The statement of a body in a session without parameters.
    pub(crate) fn plain(&self, body: &[u8]) -> Arc<Statement> {
        thread_local! {
            static SCHEMA: Arc<super::Schema> = Arc::default();
        }
        SCHEMA.with(|schema| {
            let profile = Profile::default();
            self.intern(Parsed::new(body, &profile, schema, 1), None, &mut |bytes: &mut [u8]| bytes.fill(7))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Schema;
    use super::*;

    fn session(entries: &[(&str, &str)]) -> Profile {
        let mut profile = Profile::default();
        entries.iter().for_each(|(name, value)| profile.set(name, value));
        profile
    }

    fn statement(
        registry: &Registry,
        text: &str,
        profile: &Profile,
        schema: &Arc<Schema>,
        now: u64,
    ) -> StatementId {
        let body = [text.as_bytes(), &[0, 0, 0]].concat();
        let parsed = Parsed::new(&body, profile, schema, now);
        registry.intern(parsed, Some(1_000), &mut |bytes: &mut [u8]| bytes.fill(7)).id
    }

    #[test]
    fn equal_statements_share_a_name() {
        let registry = Registry::new(1 << 20);
        let a = registry.plain(b"SELECT 1\0\0\0");
        let b = registry.plain(b"SELECT 1\0\0\0");
        let c = registry.plain(b"SELECT 1\0\0\x01\0\0\0\x17");
        assert_eq!(a.name(), b.name());
        assert_ne!(a.name(), c.name());
    }

    #[test]
    fn sessions_that_read_a_text_differently_have_statements_of_their_own() {
        let registry = Registry::new(1 << 20);
        let schema = Arc::default();
        let (utc, cet) =
            (session(&[("TimeZone", "UTC")]), session(&[("TimeZone", "CET"), ("application_name", "a")]));
        let of = |text: &str, profile: &Profile| statement(&registry, text, profile, &schema, 1);
        assert_eq!(of("select 1", &utc), of("select 1", &cet));
        assert_ne!(of("select '1'", &utc), of("select '1'", &cet));
        assert_eq!(of("select '1'", &cet), of("select '1'", &session(&[("TimeZone", "CET")])));
        let (utf8, latin) =
            (session(&[("client_encoding", "UTF8")]), session(&[("client_encoding", "LATIN1")]));
        assert_eq!(of("select 'e'", &utf8), of("select 'e'", &latin));
        assert_ne!(of("select 1 as \"é\"", &utf8), of("select 1 as \"é\"", &latin));
    }

    #[test]
    fn a_statement_older_than_a_change_or_its_lifetime_is_made_anew() {
        let registry = Registry::new(1 << 20);
        let (schema, other) = (Arc::default(), Arc::default());
        let profile = Profile::default();
        let of =
            |schema: &Arc<Schema>, now: u64| statement(&registry, "select a from t", &profile, schema, now);
        let (first, elsewhere) = (of(&schema, 1), of(&other, 1));
        assert_ne!(first, elsewhere, "another database");
        assert_eq!(of(&schema, 2), first);
        schema.changed();
        let second = of(&schema, 3);
        assert_ne!(second, first);
        assert_eq!((of(&schema, 1_002), of(&other, 4)), (second, elsewhere));
        assert_ne!(of(&schema, 1_003), second, "it is too old");
        assert_eq!(registry.len(), 2, "what is outdated is recorded no longer");
    }

    #[test]
    fn what_nobody_holds_is_dropped_at_the_bound() {
        let registry = Registry::new(64 << 10);
        let held = registry.plain(b"held\0\0\0");
        for n in 0..10_000 {
            registry.plain(format!("SELECT {n}\0\0\0").as_bytes());
        }
        assert!(registry.usage().0 <= 64 << 10);
        assert!(Arc::ptr_eq(&held, &registry.plain(b"held\0\0\0")));
    }

    #[test]
    fn what_clients_hold_is_counted_and_swept_seldom() {
        let registry = Registry::new(1 << 10);
        let held: Vec<_> =
            (0..2_000).map(|n| registry.plain(format!("SELECT {n}\0\0\0").as_bytes())).collect();
        let each: usize = held.iter().map(|statement| statement.bytes()).sum();
        assert_eq!(registry.usage(), (each, 0));
        drop(held);
        let before = registry.len();
        (0..2_000).for_each(|n| drop(registry.plain(format!("SELECT -{n}\0\0\0").as_bytes())));
        assert!(before == 2_000 && registry.len() < 1_000, "{}", registry.len());
    }

    #[test]
    fn what_nobody_holds_any_more_goes_with_time() {
        let registry = Registry::new(64 << 10);
        let text = |n: usize| format!("SELECT {n}\0\0\0");
        let mut held: Vec<_> = (0..1_000).map(|n| registry.plain(text(n).as_bytes())).collect();
        let tend = || (0..SHARDS).for_each(|_| registry.tend());
        tend();
        assert_eq!(registry.len(), 1_000, "all are held");
        held.truncate(10);
        tend();
        assert!(registry.usage().0 <= 64 << 10 && registry.len() < 500, "{}", registry.len());
        assert!(
            held.iter().enumerate().all(|(n, held)| Arc::ptr_eq(held, &registry.plain(text(n).as_bytes())))
        );
    }

    #[test]
    fn names_are_drawn_at_random() {
        let mut next = 0;
        let mut entropy = |bytes: &mut [u8]| {
            bytes.iter_mut().for_each(|byte| {
                next += 1;
                *byte = next;
            });
        };
        let (a, b) = (
            fresh_name(StatementId::MIN, &mut entropy),
            fresh_name(StatementId::MIN.saturating_add(1), &mut entropy),
        );
        assert!(a.starts_with(b"_tl_1_") && b.starts_with(b"_tl_2_") && a.len() == 18);
        assert_ne!(a[6..], b[6..]);
    }
}
