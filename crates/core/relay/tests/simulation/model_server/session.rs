//! How a PostgreSQL backend handles a client's messages, one step at a time.
//!
//! The model servers use it, and so does each client's model of a direct connection. A step is a message of the extended
//! protocol, or one command of a simple query. If a step ends in another way (a cancel request, a lost connection), the
//! caller uses [`Session::fail`] or [`Session::lose`] instead of [`Session::run`].

use std::collections::{BTreeMap, VecDeque};

use super::atom::Atom;
use super::settings::{Settings, Values};
use super::sql::{Sql, split};
use crate::frames::{self, Frame};

/// The state that all sessions of a server share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Database {
    pub(crate) schema: u64,
    pub(crate) sequences: BTreeMap<usize, u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) text: String,
    /// The value that a string constant in its text got when it was parsed.
    pub(crate) read: String,
    pub(crate) schema: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Portal {
    pub(crate) text: String,
    pub(crate) read: String,
    pub(crate) parameters: Vec<u8>,
    pub(crate) rows_given: usize,
    pub(crate) done: bool,
}

/// A session after start-up.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) settings: Settings,
    /// The parameter values that a failed transaction restores.
    pub(crate) snapshot: Option<Values>,
    /// `I`, `T` or `E`.
    pub(crate) status: u8,
    pub(crate) statements: BTreeMap<Vec<u8>, Prepared>,
    pub(crate) portals: BTreeMap<Vec<u8>, Portal>,
    pub(crate) skipping: bool,
    /// Present during COPY FROM STDIN: whether the extended protocol began it.
    pub(crate) copy: Option<bool>,
    /// The session has ended, by Terminate or a protocol violation.
    pub(crate) over: bool,
    /// Whether it reports parameters when they change (before PostgreSQL 14), and not before ReadyForQuery.
    pub(crate) reports_at_once: bool,
    /// The client has already got the error of the next step, before it sent that step's message.
    pub(crate) failing: bool,
    /// The unnamed statement before the current simple query.
    unnamed_before: Option<Prepared>,
    /// Whether something was executed in the implicit transaction.
    pub(crate) executed: bool,
    pub(crate) todo: VecDeque<Atom>,
}

/// A failure: SQLSTATE, message, routine.
pub(crate) struct Failure(pub(crate) String, pub(crate) String, pub(crate) &'static str);

pub(crate) fn failure(code: &str, message: impl std::fmt::Display) -> Failure {
    Failure(code.to_owned(), format!("model: {message}"), "model")
}

impl Session {
    pub(crate) fn new(settings: Settings, reports_at_once: bool) -> Self {
        Self {
            settings,
            snapshot: None,
            status: b'I',
            statements: BTreeMap::new(),
            portals: BTreeMap::new(),
            skipping: false,
            copy: None,
            over: false,
            reports_at_once,
            failing: false,
            unnamed_before: None,
            executed: false,
            todo: VecDeque::new(),
        }
    }

    /// Whether a turn of the extended protocol has begun and has no Sync yet.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.snapshot.is_some() && self.status == b'I' && !self.skipping
    }

    /// Whether a step can run. Otherwise it waits for a message.
    pub(crate) fn ready(&self) -> bool {
        !self.todo.is_empty() && self.copy.is_none()
    }

    /// Takes a message. Call it only when no step can run.
    pub(crate) fn take(&mut self, message: &[u8]) {
        let (tag, body) = (message[0], &message[5..]);
        if let Some(extended) = self.copy {
            match tag {
                b'c' => self.end_copy(Atom::CopyDone { extended }),
                b'f' => self.end_copy(Atom::CopyFailed { extended }),
                b'd' | b'H' | b'S' => {}
                b'X' => self.over = true,
                _ => panic!(
                    "the modelled clients do not send {} {} in COPY",
                    char::from(tag),
                    body.escape_ascii()
                ),
            }
            return;
        }
        if self.skipping && !matches!(tag, b'S' | b'X') {
            return;
        }
        if matches!(tag, b'Q' | b'F') {
            self.unnamed_before = self.statements.get(&b""[..]).cloned();
        }
        match tag {
            b'X' => self.over = true,
            b'd' | b'c' | b'f' | b'H' => {}
            b'Q' => {
                let commands = split(&String::from_utf8_lossy(&body[..body.len() - 1]));
                let many = commands.len() > 1;
                if commands.is_empty() {
                    self.todo.push_back(Atom::EmptyQuery);
                }
                self.todo.extend(commands.into_iter().map(|text| Atom::Statement { text, many }));
                self.todo.push_back(Atom::QueryEnd);
            }
            b'S' => self.todo.push_back(Atom::Sync),
            b'F' => self.todo.push_back(Atom::Function),
            _ => match Atom::decode(tag, body) {
                Some(atom) => self.todo.push_back(atom),
                None => self.todo.push_back(Atom::Garbage),
            },
        }
    }

    fn end_copy(&mut self, atom: Atom) {
        self.copy = None;
        self.todo.push_front(atom);
    }

    /// Whether the next step is a slow query.
    pub(crate) fn next_is_slow(&self) -> bool {
        self.slow_token().is_some()
    }

    /// The token of the slow query that is the next step.
    pub(crate) fn slow_token(&self) -> Option<String> {
        if !self.ready() || self.status == b'E' {
            return None;
        }
        let text = match self.todo.front()? {
            Atom::Statement { text, .. } => text,
            Atom::Execute { portal, .. } => &self.portals.get(portal)?.text,
            _ => return None,
        };
        match Sql::parse(text) {
            Sql::Slow(token) => Some(token),
            _ => None,
        }
    }

    /// Runs the next step.
    pub(crate) fn run(&mut self, database: &mut Database) -> Vec<Frame> {
        if std::mem::take(&mut self.failing) {
            self.lose();
            return Vec::new();
        }
        let Some(atom) = self.todo.pop_front() else { return Vec::new() };
        let extended = atom.is_extended();
        let mut out = match self.execute(&atom, database) {
            Ok(out) => out,
            Err(failure) => return self.failed(&atom, extended, &failure),
        };
        if self.reports_at_once && !matches!(atom, Atom::Sync | Atom::QueryEnd) {
            // A PostgreSQL that reports at once (before 14) does so within the command (ReportGUCOption), not after it.
            let completion = out.pop_if(|frame| frame.bytes[0] == b'C');
            out.extend(self.settings.report());
            out.extend(completion);
        }
        out
    }

    /// The next step (or the current COPY) ends with this error instead.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Vec<Frame> {
        if let Some(extended) = self.copy.take() {
            let atom = Atom::CopyFailed { extended };
            return self.failed(&atom, extended, failure);
        }
        let Some(atom) = self.todo.pop_front() else { return Vec::new() };
        let extended = atom.is_extended();
        self.failed(&atom, extended, failure)
    }

    fn failed(&mut self, atom: &Atom, extended: bool, failure: &Failure) -> Vec<Frame> {
        let kind = match &*failure.0 {
            "42P05" | "26000" => frames::Kind::Code,
            _ => frames::Kind::Exact,
        };
        if matches!(atom, Atom::Statement { .. }) {
            self.statements.remove(&b""[..]);
        }
        let mut out = vec![frames::report(b'E', "ERROR", &failure.0, &failure.1, failure.2)];
        out[0].kind = kind;
        if self.status == b'T' {
            self.status = b'E';
        }
        if let Some(values) = self.snapshot.take() {
            self.settings.values = values;
        }
        if self.status == b'I' {
            self.portals.clear();
            self.executed = false;
        }
        if self.reports_at_once {
            out.extend(self.settings.report());
        }
        match atom {
            // The error and ReadyForQuery.
            Atom::Sync | Atom::QueryEnd => self.todo.push_front(atom.clone()),
            Atom::Function => self.todo.push_front(Atom::QueryEnd),
            _ if extended => {
                self.skipping = true;
                self.todo.clear();
            }
            _ => self.todo.retain(|atom| matches!(atom, Atom::QueryEnd)),
        }
        out
    }

    /// The server behind the proxy is lost outside a transaction. The client's parameters keep the values that the
    /// client was told, and the unnamed statement that the current query had dropped is back.
    pub(crate) fn lose(&mut self) {
        if self.todo.iter().any(|atom| matches!(atom, Atom::QueryEnd)) {
            let before = self.unnamed_before.take();
            self.statements.extend(before.map(|unnamed| (Vec::new(), unnamed)));
        }
        self.settings.values.clone_from(&self.settings.reported);
        self.forget_transaction();
        self.refuse();
    }

    /// The turn has failed without reaching a server.
    pub(crate) fn refuse(&mut self) {
        let unnamed = self.statements.get(&b""[..]).cloned();
        self.fail(&failure("53300", "refused"));
        self.statements.extend(unnamed.map(|unnamed| (Vec::new(), unnamed)));
    }

    fn forget_transaction(&mut self) {
        self.snapshot = None;
        self.status = b'I';
    }

    /// An implicit transaction ends successfully.
    pub(crate) fn end_implicit(&mut self) {
        if self.status == b'I' {
            self.snapshot = None;
            self.portals.clear();
            self.executed = false;
        }
    }

    pub(crate) fn begin_implicit(&mut self) {
        if self.snapshot.is_none() && self.status != b'E' {
            self.snapshot = Some(self.settings.values.clone());
        }
    }
}
