//! Turns: what a client sends up to a Sync, or one simple Query.

use super::texts::{Kind, Text};
use super::{Maker, wide};
use crate::class::Class;
use crate::script::{Message, Turn};

/// Clients' own names of statements.
const NAMES: [&str; 5] = ["s1", "s2", "S 3", "a'b", "s4"];
/// Names of portals.
const PORTALS: [&str; 3] = ["", "p1", "P 2"];
/// Transaction control.
///
/// There is no isolation level: after a Parse in the same turn, the server refuses one only if that Parse took a snapshot, and a Parse
/// that the proxy answers takes none.
const BEGINS: [&str; 4] = ["begin", "start transaction read only", "BEGIN;", "begin read write"];
/// Sequences of statements that belong together.
const BLOCKS: [&[&str]; 8] = [
    &[
        "begin",
        "create temp table tt (x int) on commit drop",
        "insert into tt values (1)",
        "table tt",
        "commit",
    ],
    &["begin", "select nextval('sq')", "select currval('sq')", "select lastval()", "commit"],
    &["begin", "set local role trusted", "select current_user", "commit", "select current_user"],
    &[
        "begin",
        "set timezone = 'Asia/Tokyo'",
        "savepoint a",
        "set timezone = 'UTC'",
        "rollback to a",
        "commit",
    ],
    &["begin", "set datestyle = 'German'", "select 1/0", "commit"],
    &["notify channel, 'payload'", "select pg_advisory_xact_lock(7)"],
    &[
        "begin",
        "select pg_try_advisory_xact_lock(8)",
        "set local intervalstyle = 'iso_8601'",
        "table t0",
        "end",
    ],
    &["set timezone = 'Asia/Kolkata'", "select d from t0 order by a", "reset timezone"],
];
/// Statements longer than this do not follow their client: `prepared_statement_bytes_max` is 1 MiB.
const KEPT_BYTES: usize = 1_000_000;
/// A longer Query is passed on in pieces: `client_buffer_bytes` is 64 KiB.
const HELD_BYTES: usize = 60_000;
const ENDS: [&str; 6] = ["commit", "rollback", "end", "abort", "commit", "rollback"];
const MIDDLES: [&str; 9] = [
    "savepoint a",
    "rollback to a",
    "release a",
    "savepoint b",
    "rollback to savepoint b",
    "commit and chain",
    "declare cu cursor for select * from t0 order by a",
    "fetch 2 from cu",
    "close cu",
];

/// Whether a text may reset a parameter to its start-up value.
pub(super) fn is_reset(sql: &[u8]) -> bool {
    let text = String::from_utf8_lossy(sql).to_lowercase();
    ["reset", "default", "discard", "time zone local"].iter().any(|word| text.contains(word))
}

/// Whether a text may change a setting. For texts that are parsed after it in the same turn, the proxy assumes the settings at the
/// end of the turn.
fn may_set(sql: &[u8]) -> bool {
    is_reset(sql) || String::from_utf8_lossy(sql).to_lowercase().contains("set")
}

impl Maker {
    /// A simple Query of one or more statements.
    pub(super) fn simple(&mut self, actor: usize) -> Turn {
        if self.has(Class::Transactions) && self.has(Class::Set) && self.rng.u8(..10) == 0 {
            let block = BLOCKS[self.rng.usize(..BLOCKS.len())];
            return vec![Message::Query(block.iter().map(|text| text.as_bytes().to_vec()).collect())];
        }
        let count = if self.rng.u8(..4) == 0 { self.rng.usize(2..5) } else { 1 };
        let mut statements: Vec<Vec<u8>> = Vec::new();
        // A reset brings start-up values back at the end of its turn. Nothing in the turn may read them before.
        while statements.len() < count && !statements.last().is_some_and(|sql| is_reset(sql)) {
            let statement = self.statement(actor);
            // The proxy does not parse a Query that is too long for its buffer.
            if statement.len() <= HELD_BYTES || statements.is_empty() {
                statements.push(statement);
            }
            if statements[0].len() > HELD_BYTES {
                break;
            }
        }
        vec![Message::Query(statements)]
    }

    /// A statement with its values in the text.
    fn statement(&mut self, actor: usize) -> Vec<u8> {
        match self.rng.u8(..10) {
            0..=2 if self.has(Class::Set) => self.setting(actor),
            3 if self.has(Class::Transactions) => self.control(actor),
            _ => {
                let text = self.text(actor);
                self.written_out(actor, &text)
            }
        }
    }

    /// BEGIN, COMMIT, SAVEPOINT, ...
    pub(super) fn control(&mut self, actor: usize) -> Vec<u8> {
        let open = self.actors[actor].open;
        let (text, opens) = match self.rng.u8(..8) {
            0..=4 if !open => (self.pick(&BEGINS), true),
            0..=3 if open => (self.pick(&ENDS), false),
            5..=6 => (self.pick(&MIDDLES), open),
            7 if !open => (self.pick(&ENDS), false),
            _ => (self.pick(&BEGINS), true),
        };
        self.actors[actor].open = opens;
        text.into()
    }

    fn written_out(&mut self, actor: usize, text: &Text) -> Vec<u8> {
        let mut sql = String::from_utf8_lossy(&text.sql).into_owned();
        if sql.as_bytes() != text.sql {
            return text.sql.clone();
        }
        for (index, kind) in text.parameters.iter().enumerate() {
            let value = self.value(actor, *kind).unwrap_or_else(|| b"null".to_vec());
            let value = String::from_utf8_lossy(&value).into_owned();
            let number = matches!(kind, Kind::Int | Kind::Actor) || value == "null";
            let written = if number { value } else { format!("'{}'", value.replace('\'', "''")) };
            sql = sql.replace(&format!("${}", index + 1), &written);
        }
        sql.into_bytes()
    }

    /// A value as text.
    fn value(&mut self, actor: usize, kind: Kind) -> Option<Vec<u8>> {
        if self.rng.u8(..12) == 0 && kind != Kind::Actor {
            return None;
        }
        if kind == Kind::Text && self.has(Class::Wide) && self.rng.u8(..4) == 0 {
            let encoding = self.actors[actor].speaks();
            return Some(wide::character(&mut self.rng, encoding));
        }
        let text = match kind {
            Kind::Actor => return Some(actor.to_string().into_bytes()),
            Kind::Int => self.pick(&["1", "2", "3", "0", "7"]),
            Kind::Text => self.pick(&["x", "", "it's", "back\\slash", "w", "t1", "TimeZone"]),
            Kind::Date => self.pick(&["2020-03-04", "01/02/2020", "13/01/2020", "1.2.2021"]),
            Kind::Stamp => self.pick(&["2020-03-04 05:06:07", "01/02/2020 03:04", "2020-07-01 00:00:00+00"]),
        };
        Some(text.into())
    }

    /// Parse, Bind, Execute and other messages, up to a Sync or (if the class is allowed) a Flush.
    pub(super) fn extended(&mut self, actor: usize) -> Turn {
        let mut turn = Turn::new();
        let flushed = self.has(Class::Flush) && self.rng.u8(..8) == 0;
        for _ in 0..if self.rng.u8(..3) == 0 { self.rng.usize(2..4) } else { 1 } {
            self.round(actor, &mut turn, flushed);
            if turn.iter().any(|message| self.is_of(actor, message, is_reset)) {
                break;
            }
        }
        if !flushed && self.has(Class::Flush) && self.rng.u8(..8) == 0 {
            let at = self.rng.usize(..=turn.len());
            turn.insert(at, Message::Flush);
        }
        turn.push(if flushed { Message::Flush } else { Message::Sync });
        turn
    }

    /// The messages of one statement from Parse to Execute, or a part of them.
    fn round(&mut self, actor: usize, turn: &mut Turn, flushed: bool) {
        if self.has(Class::NameErrors) && self.rng.u8(..16) == 0 {
            return turn.push(self.stray(actor));
        }
        let known = self.actors[actor].statements.len();
        let (name, text) = if known > 0 && self.rng.u8(..5) < 2 {
            let (name, text) = &self.actors[actor].statements[self.rng.usize(..known)];
            (name.clone(), text.clone())
        } else {
            self.parse(actor, turn, flushed)
        };
        if self.rng.u8(..4) == 0 {
            turn.push(Message::Describe(b'S', name.clone()));
        }
        if self.rng.u8(..10) == 0 {
            return;
        }
        let portal: Vec<u8> = self.pick(&PORTALS).into();
        turn.push(self.bind(actor, &portal, &name, &text));
        if self.rng.u8(..5) < 2 {
            turn.push(Message::Describe(b'P', portal.clone()));
        }
        let rows = if self.rng.u8(..5) == 0 { self.rng.u32(1..3) } else { 0 };
        turn.push(Message::Execute(portal.clone(), rows));
        if rows > 0 && self.rng.bool() {
            turn.push(Message::Execute(portal.clone(), self.rng.u32(..3)));
        }
        if self.rng.u8(..10) == 0 {
            turn.push(Message::Close(b'P', portal));
        }
        if self.rng.u8(..12) == 0 && !name.is_empty() {
            self.actors[actor].statements.retain(|(known, _)| *known != name);
            turn.push(Message::Close(b'S', name));
        }
    }

    /// Whether the message is of a statement with a certain property.
    pub(super) fn is_of(&self, actor: usize, message: &Message, has: impl Fn(&[u8]) -> bool) -> bool {
        match message {
            Message::Parse { sql, .. } => has(sql),
            Message::Bind { name, .. } => {
                self.actors[actor].statements.iter().any(|(known, text)| known == name && has(&text.sql))
            }
            _ => false,
        }
    }

    /// Adds the Parse of a text under a name, and returns both.
    fn parse(&mut self, actor: usize, turn: &mut Turn, flushed: bool) -> (Vec<u8>, Text) {
        let mut text = match self.rng.u8(..10) {
            0 | 1 if self.has(Class::Set) => Text::new(self.setting(actor), &[]),
            2 if self.has(Class::Transactions) => Text::new(self.control(actor), &[]),
            _ => self.text(actor),
        };
        if flushed && text.copies {
            text = Text::new("select 2", &[]);
        }
        // A statement that is too long exists in its own turn only. For a statement after a SET, the settings are known at the
        // turn's end.
        let unnamed = self.rng.u8(..3) == 0
            || text.sql.len() > KEPT_BYTES
            || turn.iter().any(|message| self.is_of(actor, message, may_set));
        let name = if unnamed { Vec::new() } else { self.name(actor) };
        // The unnamed statement is not used in a later turn, because only the server knows whether it exists.
        let known = self.actors[actor].statements.iter().any(|(known, _)| *known == name);
        // If a Parse fails, the model is wrong. So without this class, the name is closed each time.
        if !name.is_empty() && !self.has(Class::NameErrors) || known && self.rng.u8(..5) > 0 {
            turn.push(Message::Close(b'S', name.clone()));
        }
        let types: Vec<u32> = text.parameters.iter().map(|kind| self.type_of(*kind)).collect();
        let types = if self.rng.bool() { types } else { Vec::new() };
        turn.push(Message::Parse { name: name.clone(), sql: text.sql.clone(), types });
        if !name.is_empty() && !known {
            self.actors[actor].statements.push((name.clone(), text.clone()));
        } else if known {
            let statements = &mut self.actors[actor].statements;
            statements
                .iter_mut()
                .filter(|(known, _)| *known == name)
                .for_each(|(_, old)| *old = text.clone());
        }
        (name, text)
    }

    fn name(&mut self, actor: usize) -> Vec<u8> {
        let mut name: Vec<u8> = if self.has(Class::Guesses) && self.rng.u8(..8) == 0 {
            format!("_tl_{}", self.rng.u8(11..15)).into()
        } else {
            self.pick(&NAMES).into()
        };
        if self.has(Class::WideNames) && self.rng.u8(..5) == 0 {
            // Only the server finds an invalid letter.
            let encoding = self.actors[actor].speaks();
            name.extend(wide::valid_character(&mut self.rng, encoding));
        }
        if self.epoch > 0 && !self.has(Class::OldNames) {
            name.extend(format!(".{}", self.epoch).bytes());
        }
        name
    }

    /// An OID that Parse may have for a parameter; with 0, the server chooses the type.
    fn type_of(&mut self, kind: Kind) -> u32 {
        match kind {
            _ if self.rng.u8(..4) == 0 => 0,
            Kind::Int | Kind::Actor => 23,
            Kind::Text => 25,
            Kind::Date => 1082,
            Kind::Stamp => 1184,
        }
    }

    fn bind(&mut self, actor: usize, portal: &[u8], name: &[u8], text: &Text) -> Message {
        let mut formats = Vec::new();
        let mut values = Vec::new();
        for kind in &text.parameters {
            let value = self.value(actor, *kind);
            let number =
                value.as_deref().and_then(|text| std::str::from_utf8(text).ok()?.parse::<i32>().ok());
            // The generator does not know the type that the server gives a parameter, so the server may refuse a binary value.
            match number.filter(|_| *kind == Kind::Int && self.rng.u8(..3) == 0) {
                Some(number) => {
                    formats.push(1);
                    values.push(Some(number.to_be_bytes().to_vec()));
                }
                None => {
                    formats.push(0);
                    values.push(value);
                }
            }
        }
        if self.has(Class::NameErrors) && self.rng.u8(..30) == 0 {
            values.push(Some(b"1".to_vec()));
            formats.push(0);
        }
        let results = match self.rng.u8(..8) {
            0 => vec![1],
            1 => vec![0],
            _ => Vec::new(),
        };
        Message::Bind { portal: portal.into(), name: name.into(), formats, values, results }
    }

    /// A message for a statement or portal that most likely does not exist.
    fn stray(&mut self, actor: usize) -> Message {
        let portal: Vec<u8> = self.pick(&PORTALS).into();
        let name = self.name(actor);
        match self.rng.u8(..6) {
            0 => {
                self.actors[actor].statements.retain(|(known, _)| *known != name);
                Message::Close(b'S', name)
            }
            1 => Message::Close(b'P', portal),
            2 => Message::Describe(b'S', name),
            3 => Message::Describe(b'P', portal),
            4 => Message::Execute(b"p1".to_vec(), 0),
            _ => Message::Bind { portal, name, formats: vec![], values: vec![], results: vec![] },
        }
    }
}
