//! The registry of prepared statements, for all workers. It finds a statement by its text, its parameter types, its database and
//! the settings under which PostgreSQL parses the text.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use trunkline_pool::Micros;
use trunkline_session::Entropy;

use super::statement::{ParseRequest, Statement, StatementId, fresh_name};
use crate::carried::parameters::Profile;
use crate::text::Literals;

/// The registry has this many parts, each with its own lock, so that Parse messages of different workers seldom wait for each
/// other.
const SHARDS: usize = 16;

#[derive(Debug, Default)]
struct Shard {
    statements: HashTable<Arc<Statement>>,
    bytes: usize,
    /// Above this many bytes, statements that no client or server connection holds are dropped.
    sweep_above: usize,
}

/// All statements that clients share. Statements that no client holds are kept too, as many as `bytes_max` allows.
#[derive(Debug)]
pub struct Registry {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    next: AtomicU64,
    bytes_max: usize,
    evicted: AtomicU64,
    next_shard: AtomicUsize,
    bytes_in_use: Arc<AtomicUsize>,
}

impl Registry {
    /// An empty registry. It keeps statements that no client holds as long as all statements together have at most `bytes_max`.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            hasher: RandomState::default(),
            shards: Default::default(),
            next: AtomicU64::new(0),
            bytes_max,
            evicted: AtomicU64::new(0),
            next_shard: AtomicUsize::new(0),
            bytes_in_use: Arc::default(),
        }
    }

    /// The statement for a Parse. It is a recorded statement with the same text, types, database and settings, if that is not
    /// outdated and not older than `lifetime`. Otherwise it is a new one.
    pub fn intern(
        &self,
        parsed: ParseRequest<'_>,
        lifetime: Option<Micros>,
        entropy: &mut dyn Entropy,
    ) -> Arc<Statement> {
        let settings = parsed.profile.parse_settings(Literals::of(parsed.text()));
        let hash = self.hasher.hash_one((parsed.body, Some(&**settings)));
        let same = |known: &Arc<Statement>| {
            *known.body() == *parsed.body
                && Arc::ptr_eq(&known.origin.schema, parsed.schema)
                && known
                    .parse_settings()
                    .is_some_and(|known| Arc::ptr_eq(known, settings) || known == settings)
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
        let settings = OnceLock::from(Arc::clone(settings));
        let name = fresh_name(id, entropy);
        let statement = Arc::new(Statement::new(id, &name, parsed, settings, Arc::clone(&self.bytes_in_use)));
        if shard.bytes + statement.bytes() > shard.sweep_above.max(self.bytes_max / SHARDS) {
            self.sweep(&mut shard);
        }
        shard.bytes += statement.bytes();
        let rehash = |known: &Arc<Statement>| self.hash_of(known);
        shard.statements.insert_unique(hash, Arc::clone(&statement), rehash);
        statement
    }

    /// A statement whose text is too long to be kept. Only its client uses it, and only on one server connection.
    pub(crate) fn without_text(&self, parsed: ParseRequest<'_>, entropy: &mut dyn Entropy) -> Arc<Statement> {
        self.private(ParseRequest { body: b"", ..parsed }, entropy)
    }

    fn hash_of(&self, known: &Statement) -> u64 {
        self.hasher.hash_one((known.body(), known.parse_settings().map(|settings| &**settings)))
    }

    /// A statement that only its client uses, because we do not know yet under which settings the server parses it.
    pub(crate) fn private(&self, parsed: ParseRequest<'_>, entropy: &mut dyn Entropy) -> Arc<Statement> {
        let id = self.fresh_id();
        let name = fresh_name(id, entropy);
        Arc::new(Statement::new(id, &name, parsed, OnceLock::new(), Arc::clone(&self.bytes_in_use)))
    }

    /// A client's unnamed statement. `settings` has the session's parameters, if they are known.
    pub(crate) fn unnamed(
        &self,
        parsed: ParseRequest<'_>,
        settings: Option<&Arc<Profile>>,
    ) -> Arc<Statement> {
        let known = settings.map_or_else(OnceLock::new, |settings| OnceLock::from(Arc::clone(settings)));
        Arc::new(Statement::new(self.fresh_id(), b"", parsed, known, Arc::clone(&self.bytes_in_use)))
    }

    /// A name for a statement or portal that we make on a server. It is used once, and no client can guess it.
    pub(crate) fn secret_name(&self, entropy: &mut dyn Entropy) -> Box<[u8]> {
        fresh_name(self.fresh_id(), entropy)
    }

    /// A new number for a statement.
    pub fn fresh_id(&self) -> StatementId {
        StatementId::MIN.saturating_add(self.next.fetch_add(1, Relaxed))
    }

    /// Drops the statements of a shard that no client and no server connection holds. The next sweep comes when the shard has
    /// grown by a quarter. So each new statement costs a bounded part of a sweep, however many statements are held.
    fn sweep(&self, shard: &mut Shard) {
        let before = shard.statements.len();
        shard.statements.retain(|statement| Arc::strong_count(statement) > 1);
        shard.bytes = shard.statements.iter().map(|statement| statement.bytes()).sum();
        shard.sweep_above = shard.bytes + shard.bytes / 4;
        let rehash = |known: &Arc<Statement>| self.hash_of(known);
        shard.statements.shrink_to_fit(rehash);
        self.evicted.fetch_add((before - shard.statements.len()) as u64, Relaxed);
    }

    /// Sweeps the next shard if it is above its bound. To be called a few times per second: so unused statements are dropped even
    /// if no client sends a new one.
    pub(crate) fn sweep_next_shard(&self) {
        let shard = &self.shards[self.next_shard.fetch_add(1, Relaxed) % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unused = |statement: &Arc<Statement>| Arc::strong_count(statement) == 1;
        if shard.bytes > self.bytes_max / SHARDS && shard.statements.iter().any(is_unused) {
            self.sweep(&mut shard);
        }
    }

    /// The number of recorded statements.
    #[must_use]
    pub fn len(&self) -> usize {
        let count =
            |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(PoisonError::into_inner).statements.len();
        self.shards.iter().map(count).sum()
    }

    /// Whether no statement is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all statements, and how many statements the registry has dropped so far. The bytes include statements that
    /// are not recorded because only clients or server connections hold them, such as unnamed ones.
    #[must_use]
    pub fn usage(&self) -> (usize, u64) {
        (self.bytes_in_use.load(Relaxed), self.evicted.load(Relaxed))
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
            self.intern(ParseRequest::new(body, &profile, schema, 1), None, &mut |bytes: &mut [u8]| {
                bytes.fill(7);
            })
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
        let parsed = ParseRequest::new(&body, profile, schema, now);
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
    fn sessions_with_settings_that_change_a_texts_meaning_do_not_share_its_statement() {
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
    fn a_statement_from_before_a_change_or_older_than_its_lifetime_is_replaced() {
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
        assert_eq!(registry.len(), 2, "outdated statements are no longer recorded");
    }

    #[test]
    fn unused_statements_are_dropped_at_the_bound() {
        let registry = Registry::new(64 << 10);
        let held = registry.plain(b"held\0\0\0");
        for n in 0..10_000 {
            registry.plain(format!("SELECT {n}\0\0\0").as_bytes());
        }
        assert!(registry.usage().0 <= 64 << 10);
        assert!(Arc::ptr_eq(&held, &registry.plain(b"held\0\0\0")));
    }

    #[test]
    fn statements_in_use_are_counted_and_swept_seldom() {
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
    fn unused_statements_are_dropped_as_time_passes() {
        let registry = Registry::new(64 << 10);
        let text = |n: usize| format!("SELECT {n}\0\0\0");
        let mut held: Vec<_> = (0..1_000).map(|n| registry.plain(text(n).as_bytes())).collect();
        let sweep_all = || (0..SHARDS).for_each(|_| registry.sweep_next_shard());
        sweep_all();
        assert_eq!(registry.len(), 1_000, "all are held");
        held.truncate(10);
        sweep_all();
        assert!(registry.usage().0 <= 64 << 10 && registry.len() < 500, "{}", registry.len());
        assert!(
            held.iter().enumerate().all(|(n, held)| Arc::ptr_eq(held, &registry.plain(text(n).as_bytes())))
        );
    }

    #[test]
    fn names_are_random() {
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
