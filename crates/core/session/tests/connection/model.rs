//! A model of a server: it reads messages as PostgreSQL does, but its commands are not SQL.
//!
//! The text of a query is a list of commands with `;` between them: `rows N`, `fail`, `in` (COPY FROM STDIN), `out N`
//! (COPY TO STDOUT), `done`. A prepared statement is one command.

use std::collections::{BTreeMap, VecDeque};

use trunkline_wire::backend::{self, Message, TransactionStatus};
use trunkline_wire::frontend::{self, PasswordKind};
use trunkline_wire::{Format, frame};

use crate::answers::{complete, failure, ready, row};
use crate::feed::Seen;

/// How the server handles messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It runs them.
    Normal,
    /// A turn has failed: it skips messages up to a Sync.
    Skipping,
    /// It reads copied data. In a simple query, the value holds the commands that follow.
    CopyIn(Option<VecDeque<String>>),
}

/// A model of a server; see the module.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) mode: Mode,
    statements: BTreeMap<Vec<u8>, String>,
    portals: BTreeMap<Vec<u8>, String>,
    pub(crate) out: Vec<u8>,
    /// The events that a client must have.
    pub(crate) expected_events: Vec<Seen>,
    pub(crate) copied: Vec<u8>,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self {
            mode: Mode::Normal,
            statements: BTreeMap::new(),
            portals: BTreeMap::new(),
            out: Vec::new(),
            expected_events: Vec::new(),
            copied: Vec::new(),
        }
    }

    /// Reads complete messages.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) {
        while let Some(header) = frame::header(bytes).expect("our client sends valid messages") {
            let (frame, rest) = bytes.split_at(header.frame_bytes());
            bytes = rest;
            let message = frontend::Message::decode(frame[0], &frame[5..], PasswordKind::Password);
            self.message(&message.expect("our client sends valid messages"));
        }
    }

    pub(crate) fn say(&mut self, message: &Message<'_>, seen: Seen) {
        message.encode(&mut self.out).expect("fits");
        self.expected_events.push(seen);
    }

    pub(crate) fn complete(&mut self, tag: &str) {
        self.say(&complete(tag), Seen::Complete(tag.to_owned()));
    }

    pub(crate) fn fail(&mut self) {
        failure(&mut self.out);
        self.expected_events.push(Seen::Error("42601".to_owned()));
        self.mode = Mode::Skipping;
    }

    pub(crate) fn ready(&mut self) {
        ready(&mut self.out);
        self.expected_events.push(Seen::Ready(TransactionStatus::Idle));
        self.portals.clear();
        self.mode = Mode::Normal;
    }

    fn message(&mut self, message: &frontend::Message<'_>) {
        use frontend::Message as M;
        match (&self.mode, message) {
            (Mode::CopyIn(_), message) => self.in_copy(message),
            (Mode::Skipping, M::Sync) | (Mode::Normal, M::Sync) => self.ready(),
            (Mode::Skipping, _)
            | (Mode::Normal, M::Flush | M::CopyData(_) | M::CopyDone | M::CopyFail(_)) => {}
            (Mode::Normal, M::Query(query)) => {
                let text = String::from_utf8_lossy(query.text).into_owned();
                self.commands(text.split(';').map(str::to_owned).collect());
            }
            (Mode::Normal, message) => self.extended(message),
        }
    }

    pub(crate) fn extended(&mut self, message: &frontend::Message<'_>) {
        use frontend::Message as M;
        match message {
            M::Parse(parse) => {
                let text = String::from_utf8_lossy(parse.query).into_owned();
                if text == "bad" {
                    return self.fail();
                }
                self.statements.insert(parse.name.to_vec(), text);
                self.say(&Message::ParseComplete, Seen::Parsed);
            }
            M::Bind(bind) => match self.statements.get(bind.statement) {
                Some(text) => {
                    self.portals.insert(bind.portal.to_vec(), text.clone());
                    self.say(&Message::BindComplete, Seen::Bound);
                }
                None => self.fail(),
            },
            M::Describe(describe) => {
                let statement = describe.target == frontend::Target::Statement;
                let known = if statement { &self.statements } else { &self.portals };
                let Some(text) = known.get(describe.name).cloned() else { return self.fail() };
                if statement {
                    backend::ParameterDescription::write(&mut self.out, &[25]).expect("fits");
                    self.expected_events.push(Seen::Parameters(vec![25]));
                }
                if text.starts_with("rows") {
                    self.columns();
                } else {
                    self.say(&Message::NoData, Seen::NoData);
                }
            }
            M::Execute(execute) => match self.portals.get(execute.portal).cloned() {
                Some(command) => self.command(&command, false),
                None => self.fail(),
            },
            M::Close(close) => {
                let statement = close.target == frontend::Target::Statement;
                let known = if statement { &mut self.statements } else { &mut self.portals };
                known.remove(close.name);
                self.say(&Message::CloseComplete, Seen::Closed);
            }
            other => panic!("our client never sends {other:?}"),
        }
    }

    /// Runs the remaining commands of a simple query.
    pub(crate) fn commands(&mut self, mut commands: VecDeque<String>) {
        while let Some(command) = commands.pop_front() {
            self.command(&command, true);
            match &mut self.mode {
                Mode::Normal => {}
                Mode::Skipping => break,
                Mode::CopyIn(left) => {
                    *left = Some(commands);
                    return;
                }
            }
        }
        self.ready();
    }

    fn columns(&mut self) {
        let column = backend::Column {
            name: b"c",
            table: 0,
            attribute: 0,
            type_oid: 25,
            type_size: -1,
            type_modifier: -1,
            format: Format::TEXT,
        };
        backend::RowDescription::write(&mut self.out, &[column]).expect("fits");
        self.expected_events.push(Seen::Columns(vec!["c".to_owned()]));
    }

    fn command(&mut self, text: &str, simple: bool) {
        let (word, count) = text.split_once(' ').unwrap_or((text, "0"));
        let count: usize = count.parse().expect("a number");
        match word {
            "rows" => {
                if simple {
                    self.columns();
                }
                for n in 0..count {
                    let value = "v".repeat(n);
                    row(&mut self.out, &[Some(&value), None]);
                    self.expected_events.push(Seen::Row(vec![Some(value), None]));
                }
                self.complete("SELECT");
            }
            "in" => {
                backend::CopyInResponse::write(&mut self.out, Format::TEXT, &[]).expect("fits");
                self.expected_events.push(Seen::CopyIn);
                self.mode = Mode::CopyIn(None);
            }
            "out" => {
                backend::CopyOutResponse::write(&mut self.out, Format::TEXT, &[]).expect("fits");
                self.expected_events.push(Seen::CopyOut);
                for n in 0..count {
                    let data = vec![b'x'; n];
                    self.say(
                        &Message::CopyData(backend::CopyData { data: &data }),
                        Seen::Copied(data.clone()),
                    );
                }
                self.say(&Message::CopyDone, Seen::CopyDone);
                self.complete("COPY");
            }
            "done" => self.complete("SET"),
            "" => self.say(&Message::EmptyQueryResponse, Seen::Empty),
            _ => self.fail(),
        }
    }
}
