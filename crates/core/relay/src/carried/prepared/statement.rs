//! A distinct statement, which clients and server connections share.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use trunkline_parser::classify::Class;
use trunkline_pool::Micros;
use trunkline_session::Entropy;

use super::Schema;
use crate::carried::parameters::Profile;
use crate::text::{Classes, Effects, Literals, ParseBudget, QuotingSettings};

/// A statement's number.
pub type StatementId = NonZeroU64;

/// All names that we give to statements on servers begin with this.
pub(crate) const NAME_PREFIX: &[u8] = b"_tl_";

/// The memory of a statement without its name and text: the record and its place in the registry.
const OVERHEAD_BYTES: usize = 184;

/// How many letters of a name are random: 12 letters have 72 bits.
const NAME_LETTERS: usize = 12;

/// No server has parsed the statement yet.
const NOTICES_UNKNOWN: u8 = 0;
/// A server has parsed the statement, and none has sent a notice for that.
const NO_NOTICE: u8 = 1;
/// A server has sent a notice or a warning when it parsed the statement.
const HAS_NOTICE: u8 = 2;

/// A distinct statement. No other one has its number or its name.
#[derive(Debug)]
pub struct Statement {
    /// Unique in the process, never used again.
    pub id: StatementId,
    /// Its name, and then the body of a Parse message after the name. They share one allocation, because there may be millions
    /// of statements.
    name_and_body: Box<[u8]>,
    name_bytes: u8,
    /// Whether a server has found it outdated. Then a new Parse of its text gets another statement.
    outdated: AtomicBool,
    /// Whether servers send notices when they parse it (`NOTICES_UNKNOWN`, `NO_NOTICE` or `HAS_NOTICE`). Each client that parses
    /// it must get them.
    notices: AtomicU8,
    /// The settings under which PostgreSQL parses its text: those that the client had at its first Parse. Empty until we know
    /// them, by an answer of the server or by the end of that Parse's turn.
    pub(super) parse_settings: OnceLock<Arc<Profile>>,
    /// What it changes in its session. `None` for most statements: they change nothing.
    effects: Option<Arc<Effects>>,
    /// Its class, once it was needed.
    class: OnceLock<Class>,
    /// When it was first parsed. The definitions of its database may have changed since.
    pub(super) origin: Origin,
    /// Its ParameterDescription, once we know it, if it returns no rows. With this we can answer a Describe in a failed
    /// transaction, where the server cannot be asked.
    parameters_without_rows: OnceLock<Box<[u8]>>,
    /// The bytes of all statements of the process.
    bytes_in_use: Arc<AtomicUsize>,
}

/// In which database, under which version of its definitions, and when a statement was first parsed.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) schema: Arc<Schema>,
    pub(super) version: u64,
    pub(super) at: Micros,
}

/// What decides which statement a Parse message is for.
#[derive(Clone, Copy, Debug)]
pub struct ParseRequest<'a> {
    /// The message's body after the name.
    pub body: &'a [u8],
    /// The parameters of the client's session.
    pub profile: &'a Profile,
    /// The definitions of the database.
    pub schema: &'a Arc<Schema>,
    /// What the text changes in its session.
    pub(crate) effects: Option<&'a Arc<Effects>>,
    /// The time.
    pub now: Micros,
}

impl<'a> ParseRequest<'a> {
    /// A Parse of a text that changes nothing in its session.
    #[must_use]
    pub fn new(body: &'a [u8], profile: &'a Profile, schema: &'a Arc<Schema>, now: Micros) -> Self {
        Self { body, profile, schema, effects: None, now }
    }

    /// The text of the query, without its zero byte.
    pub(crate) fn text(&self) -> &[u8] {
        text(self.body)
    }
}

/// The text of the query in the body of a Parse message after the name.
fn text(body: &[u8]) -> &[u8] {
    memchr::memchr(0, body).map_or(body, |end| &body[..end])
}

impl Statement {
    pub(super) fn new(
        id: StatementId,
        name: &[u8],
        parsed: ParseRequest<'_>,
        parse_settings: OnceLock<Arc<Profile>>,
        bytes_in_use: Arc<AtomicUsize>,
    ) -> Self {
        let name_bytes = u8::try_from(name.len()).expect("names are short");
        let statement = Self {
            id,
            name_and_body: [name, parsed.body].concat().into(),
            name_bytes,
            outdated: AtomicBool::new(false),
            notices: AtomicU8::new(NOTICES_UNKNOWN),
            parse_settings,
            effects: parsed.effects.map(Arc::clone),
            class: OnceLock::new(),
            origin: Origin {
                schema: Arc::clone(parsed.schema),
                version: parsed.schema.version(),
                at: parsed.now,
            },
            parameters_without_rows: OnceLock::new(),
            bytes_in_use,
        };
        statement.bytes_in_use.fetch_add(statement.bytes(), Relaxed);
        statement
    }

    /// Its name on servers, which cannot be guessed. Empty for a client's unnamed statement.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name_and_body[..usize::from(self.name_bytes)]
    }

    /// The body of a Parse message after the name: the query with its zero byte, then the parameter types. Empty if it was too
    /// long to be kept.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.name_and_body[usize::from(self.name_bytes)..]
    }

    /// What it changes in its session.
    pub(crate) fn effects(&self) -> &Effects {
        static NONE: Effects = Effects::NONE;
        self.effects.as_deref().unwrap_or(&NONE)
    }

    /// Its class, which is computed once. `None` if the text or its settings are not known, or `share` does not allow to parse
    /// it now.
    pub(crate) fn class(&self, classes: &Classes, share: &mut ParseBudget) -> Option<Class> {
        if let Some(class) = self.class.get() {
            return Some(*class);
        }
        let settings = self.parse_settings().filter(|_| self.has_text())?;
        let class = classes.class(text(self.body()), QuotingSettings::of(settings), share).ok()?;
        Some(*self.class.get_or_init(|| class))
    }

    /// Whether its text is kept, so that it can be prepared on any server connection.
    #[must_use]
    pub fn has_text(&self) -> bool {
        !self.body().is_empty()
    }

    /// Its memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let effects = self.effects.as_ref().map_or(0, |effects| effects.bytes());
        self.name_and_body.len() + effects + OVERHEAD_BYTES
    }

    /// What in its text depends on the session's settings when it is parsed.
    pub(crate) fn literals(&self) -> Literals {
        Literals::of(text(self.body()))
    }

    /// The settings under which PostgreSQL parses its text, once we know them.
    pub(crate) fn parse_settings(&self) -> Option<&Arc<Profile>> {
        self.parse_settings.get()
    }

    /// Notes the settings under which PostgreSQL parses its text, unless they are known already.
    pub(crate) fn set_parse_settings(&self, profile: &Arc<Profile>) {
        self.parse_settings.get_or_init(|| Arc::clone(profile));
    }

    /// Notes that a server has found it outdated.
    pub(crate) fn mark_outdated(&self) {
        self.outdated.store(true, Relaxed);
    }

    /// Whether a Parse of its text must make a new statement: a server has found this one outdated, definitions have changed
    /// since, or it is older than `lifetime`.
    pub(super) fn is_outdated(&self, now: Micros, lifetime: Option<Micros>) -> bool {
        self.outdated.load(Relaxed)
            || self.origin.version != self.origin.schema.version()
            || lifetime.is_some_and(|lifetime| now.saturating_sub(self.origin.at) >= lifetime)
    }

    /// Notes that it returns no rows, with its ParameterDescription, as a server has described it.
    pub(crate) fn set_parameters_without_rows(&self, parameters: Box<[u8]>) {
        self.parameters_without_rows.get_or_init(|| parameters);
    }

    /// Its ParameterDescription, if we know that it returns no rows.
    pub(crate) fn parameters_without_rows(&self) -> Option<&[u8]> {
        self.parameters_without_rows.get().map(|frame| &**frame)
    }

    /// Notes that a server has parsed it.
    pub(crate) fn note_parsed(&self) {
        self.notices.fetch_max(NO_NOTICE, Relaxed);
    }

    /// Notes that a server has sent a notice when it parsed it.
    pub(crate) fn note_notice(&self) {
        self.notices.fetch_max(HAS_NOTICE, Relaxed);
    }

    /// Whether a Parse of it must go to the server, because the server may send a notice.
    pub(crate) fn may_have_notice(&self) -> bool {
        self.notices.load(Relaxed) != NO_NOTICE
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.bytes_in_use.fetch_sub(self.bytes(), Relaxed);
    }
}

/// A new name with this number, which is used once, and with random letters, so that no client can guess it.
pub(super) fn fresh_name(id: StatementId, entropy: &mut dyn Entropy) -> Box<[u8]> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut random = [0; NAME_LETTERS];
    entropy.fill(&mut random);
    let mut name = format!("_tl_{id}_").into_bytes();
    name.extend(random.iter().map(|byte| LETTERS[usize::from(byte % 64)]));
    name.into()
}
