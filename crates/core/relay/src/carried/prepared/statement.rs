//! One distinct statement, as clients and server connections share it.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use trunkline_parser::classify::Class;
use trunkline_pool::Micros;
use trunkline_session::Entropy;

use super::Schema;
use crate::carried::parameters::Profile;
use crate::text::{Classes, Effects, Literals, ParseBudget, Reading};

/// A statement's number.
pub type StatementId = NonZeroU64;

/// What the names of statements on servers begin with.
pub(crate) const NAME_PREFIX: &[u8] = b"_tl_";

/// What a statement costs beside its name and text: the record, the registry's place.
const OVERHEAD_BYTES: usize = 184;

/// Letters of a name that are drawn at random: 72 bits of them.
const NAME_LETTERS: usize = 12;

/// What a server says when it parses a statement is not known yet.
const UNHEARD: u8 = 0;
/// It said nothing.
const SILENT: u8 = 1;
/// It warned, once at least.
const WARNS: u8 = 2;

/// One distinct statement. Nobody else has its number and its name.
#[derive(Debug)]
pub struct Statement {
    /// Unique in the process, never used again.
    pub id: StatementId,
    /// Its name, then a Parse message's body after the name. One piece of memory: there may be millions.
    name_and_body: Box<[u8]>,
    name_bytes: u8,
    /// A server that has it found it outdated: a client that parses its text gets another.
    outdated: AtomicBool,
    /// Whether a server had something to say when it parsed it, which each client that parses it must hear: `UNHEARD`,
    /// `SILENT` or `WARNS`.
    heard: AtomicU8,
    /// The settings under which it is read: those of the Parse that brought it. Not set: they are known when the server has
    /// said so, or the turn of that Parse has ended.
    pub(super) reading: OnceLock<Arc<Profile>>,
    /// Most change nothing.
    effects: Option<Arc<Effects>>,
    /// What it is, once that was asked.
    class: OnceLock<Class>,
    /// When it was first parsed: the database's definitions of then may be outdated.
    pub(super) born: Born,
    /// ParameterDescription, once it is known and the statement is known to give no rows: a failed transaction can be told
    /// so where the server cannot be asked.
    described: OnceLock<Box<[u8]>>,
    /// What all statements of the process take.
    in_use: Arc<AtomicUsize>,
}

/// When and where a statement was first parsed.
#[derive(Clone, Debug)]
pub(super) struct Born {
    pub(super) schema: Arc<Schema>,
    pub(super) version: u64,
    pub(super) at: Micros,
}

/// A Parse message as far as it decides which statement it is of.
#[derive(Clone, Copy, Debug)]
pub struct Parsed<'a> {
    /// The message's body after the name.
    pub body: &'a [u8],
    /// The parameters of the client's session.
    pub profile: &'a Profile,
    /// The definitions that the server reads it by.
    pub schema: &'a Arc<Schema>,
    /// What its text changes of the session.
    pub(crate) effects: Option<&'a Arc<Effects>>,
    /// The moment.
    pub now: Micros,
}

impl<'a> Parsed<'a> {
    /// Of a text that changes nothing of its session.
    #[must_use]
    pub fn new(body: &'a [u8], profile: &'a Profile, schema: &'a Arc<Schema>, now: Micros) -> Self {
        Self { body, profile, schema, effects: None, now }
    }

    /// The query, without its zero byte and the types.
    pub(crate) fn text(&self) -> &[u8] {
        text(self.body)
    }
}

/// The query of a Parse message's body.
fn text(body: &[u8]) -> &[u8] {
    memchr::memchr(0, body).map_or(body, |end| &body[..end])
}

impl Statement {
    pub(super) fn new(
        id: StatementId,
        name: &[u8],
        parsed: Parsed<'_>,
        reading: OnceLock<Arc<Profile>>,
        in_use: Arc<AtomicUsize>,
    ) -> Self {
        let name_bytes = u8::try_from(name.len()).expect("names are short");
        let statement = Self {
            id,
            name_and_body: [name, parsed.body].concat().into(),
            name_bytes,
            outdated: AtomicBool::new(false),
            heard: AtomicU8::new(UNHEARD),
            reading,
            effects: parsed.effects.map(Arc::clone),
            class: OnceLock::new(),
            born: Born {
                schema: Arc::clone(parsed.schema),
                version: parsed.schema.version(),
                at: parsed.now,
            },
            described: OnceLock::new(),
            in_use,
        };
        statement.in_use.fetch_add(statement.bytes(), Relaxed);
        statement
    }

    /// Its name on servers, which cannot be guessed; empty: a client's unnamed one.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name_and_body[..usize::from(self.name_bytes)]
    }

    /// A Parse message's body after the name: the query with its zero byte, then the parameter types. Empty when that was
    /// too long to be kept.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.name_and_body[usize::from(self.name_bytes)..]
    }

    /// What it changes of its session.
    pub(crate) fn effects(&self) -> &Effects {
        static NONE: Effects = Effects::NONE;
        self.effects.as_deref().unwrap_or(&NONE)
    }

    /// What it is; nothing as long as that is not known. Computed once.
    pub(crate) fn class(&self, classes: &Classes, share: &mut ParseBudget) -> Option<Class> {
        if let Some(class) = self.class.get() {
            return Some(*class);
        }
        let reading = self.reading().filter(|_| self.is_kept())?;
        let class = classes.class(text(self.body()), Reading::of(reading), share).ok()?;
        Some(*self.class.get_or_init(|| class))
    }

    /// Whether its text is known, so that any server connection can be given it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        !self.body().is_empty()
    }

    /// What it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let effects = self.effects.as_ref().map_or(0, |effects| effects.bytes());
        self.name_and_body.len() + effects + OVERHEAD_BYTES
    }

    /// What in its text is read by the session's settings.
    pub(crate) fn literals(&self) -> Literals {
        Literals::of(text(self.body()))
    }

    /// The settings under which it is read, once they are known.
    pub(crate) fn reading(&self) -> Option<&Arc<Profile>> {
        self.reading.get()
    }

    /// These are the settings of its Parse, unless others are known.
    pub(crate) fn read_under(&self, profile: &Arc<Profile>) {
        self.reading.get_or_init(|| Arc::clone(profile));
    }

    /// A server found that it no longer fits what it stands for.
    pub(crate) fn outdate(&self) {
        self.outdated.store(true, Relaxed);
    }

    /// Whether a Parse of its text must make a new one: definitions have changed since, or it is older than `lifetime`.
    pub(super) fn is_outdated(&self, now: Micros, lifetime: Option<Micros>) -> bool {
        self.outdated.load(Relaxed)
            || self.born.version != self.born.schema.version()
            || lifetime.is_some_and(|lifetime| now.saturating_sub(self.born.at) >= lifetime)
    }

    /// A server has described it: these are its parameters, and it gives no rows.
    pub(crate) fn gives_no_rows(&self, parameters: Box<[u8]>) {
        self.described.get_or_init(|| parameters);
    }

    /// The ParameterDescription of a statement that is known to give no rows.
    pub(crate) fn parameters_without_rows(&self) -> Option<&[u8]> {
        self.described.get().map(|frame| &**frame)
    }

    /// A server has parsed it.
    pub(crate) fn parsed(&self) {
        self.heard.fetch_max(SILENT, Relaxed);
    }

    /// The server had something to say when it parsed it.
    pub(crate) fn warned(&self) {
        self.heard.fetch_max(WARNS, Relaxed);
    }

    /// Whether a Parse of it goes to the server for what that may have to say.
    pub(crate) fn may_warn(&self) -> bool {
        self.heard.load(Relaxed) != SILENT
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.in_use.fetch_sub(self.bytes(), Relaxed);
    }
}

/// A name that only this process knows, of a number that it uses once.
pub(super) fn fresh_name(id: StatementId, entropy: &mut dyn Entropy) -> Box<[u8]> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut random = [0; NAME_LETTERS];
    entropy.fill(&mut random);
    let mut name = format!("_tl_{id}_").into_bytes();
    name.extend(random.iter().map(|byte| LETTERS[usize::from(byte % 64)]));
    name.into()
}
