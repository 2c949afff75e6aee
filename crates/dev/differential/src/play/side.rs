//! One of the two sides: the clients' connections, and what they are answered.

use std::io;
use std::net::SocketAddr;

use anyhow::Result;
use trunkline_probes::testkit::cluster::TRUSTED_USER;
use trunkline_probes::testkit::{Frame, Messages, RawClient};

use super::fields;
use super::oids::Oids;
use super::{Errors, Manner};
use crate::script::{Message, Startup, Turn};

/// The version of the protocol that start-up packets ask for: 3.0.
const PROTOCOL: u32 = 3 << 16;

/// How an answer came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All that was asked for has come.
    Complete,
    /// The peer has closed.
    Closed,
    /// Something is missing, and nothing more came within the time there was.
    Silent,
    /// One error after the other: PostgreSQL 18 cannot end a transaction when what it then has to report has no equivalent in
    /// the client's encoding.
    Endless,
}

/// Makes a temporary table, whatever transactions are by default.
pub(super) const TEMPORARY: &str =
    "begin read write; create temp table first (); drop table pg_temp.first; commit";

/// This many errors in a row are taken for endless: a turn has one.
const ERRORS_MAX: usize = 100;

/// What one step was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// All messages, made comparable.
    pub frames: Vec<Frame>,
    /// How it ended.
    pub end: End,
}

/// A client's connection.
#[derive(Debug)]
struct Connection {
    client: RawClient,
    /// What ReadyForQuery said last.
    status: u8,
    /// Something was sent after the last Sync.
    unsynced: bool,
    /// An error came since the last Sync.
    skipping: bool,
}

/// All clients of one side.
#[derive(Debug)]
pub(super) struct Side {
    address: SocketAddr,
    database: String,
    connections: Vec<Option<Connection>>,
    oids: Oids,
    manner: Manner,
}

impl Side {
    /// Nobody has logged in yet.
    pub(super) fn new(address: SocketAddr, database: &str, manner: Manner) -> Self {
        let database = database.to_owned();
        Self { address, database, connections: Vec::new(), oids: Oids::default(), manner }
    }

    /// Whether a client is there.
    pub(super) fn is_there(&self, actor: usize) -> bool {
        self.connections.get(actor).is_some_and(Option::is_some)
    }

    /// Whether a client holds locks, or a server connection of a pool: it has begun what it has not ended.
    pub(super) fn holds(&self, actor: usize) -> bool {
        let connection = self.connections.get(actor).and_then(Option::as_ref);
        connection.is_some_and(|connection| connection.status != b'I' || connection.unsynced)
    }

    /// The clients that hold something.
    pub(super) fn holders(&self) -> Vec<usize> {
        (0..self.connections.len()).filter(|actor| self.holds(*actor)).collect()
    }

    /// A start-up packet, and everything up to ReadyForQuery or the refusal.
    ///
    /// # Errors
    /// When nobody listens.
    pub(super) fn login(&mut self, actor: usize, startup: &Startup) -> Result<Answer> {
        self.leave(actor);
        let mut client = RawClient::connect(self.address)?;
        client.set_read_limit(self.manner.patience)?;
        client.send(&packet(&self.database, startup))?;
        let mut connection = Connection { client, status: b'?', unsynced: false, skipping: false };
        let mut answer = Answer { frames: Vec::new(), end: End::Complete };
        self.read(&mut connection, &mut answer, |tag| tag == b'Z');
        // Which process serves the client, and the key to cancel it, are each connection's own. How a client proves
        // who it is is not compared.
        answer.frames.retain(|frame| !matches!(frame.tag, b'K' | b'R'));
        if answer.end == End::Closed {
            // The proxy says in its own words what is wrong with an option, and says nothing before it.
            answer.frames.retain(|frame| frame.tag == b'E');
            answer.frames.iter_mut().for_each(|frame| fields::comparable(frame, Errors::Codes));
        }
        if answer.end == End::Complete {
            self.connections.resize_with(self.connections.len().max(actor + 1), || None);
            self.connections[actor] = Some(connection);
        }
        sort_parameters(&mut answer.frames);
        Ok(answer)
    }

    /// Has a client that has logged in make its first temporary table: from then on its connection looks names up in a schema
    /// more, and so reads each prepared statement again, constants and all, under the settings of that moment.
    pub(super) fn make_temporary(&mut self, actor: usize) {
        if let Some(connection) = self.connections.get_mut(actor).and_then(Option::as_mut) {
            // One that may not do it here may not do it later.
            _ = connection.client.sql(TEMPORARY);
        }
    }

    /// Says Terminate, and waits until the peer has closed: what the client held is free then.
    pub(super) fn leave(&mut self, actor: usize) {
        let Some(mut gone) = self.connections.get_mut(actor).and_then(Option::take) else { return };
        if gone.client.send_messages(&Messages::new().terminate()).is_ok() {
            // Messages that come instead of the close were compared as far as they belong to a step.
            while gone.client.frame().is_ok() {}
        }
    }

    /// Everybody leaves.
    pub(super) fn close(&mut self) {
        (0..self.connections.len()).for_each(|actor| self.leave(actor));
    }

    /// Sends turns at once and reads all answers to them.
    pub(super) fn turns(&mut self, actor: usize, turns: &[Turn]) -> Answer {
        let mut answer = Answer { frames: Vec::new(), end: End::Complete };
        let Some(mut connection) = self.connections.get_mut(actor).and_then(Option::take) else {
            return answer;
        };
        let messages = turns.iter().flatten().fold(Messages::new(), |out, message| message.write(out));
        // A peer that closes while we send has said why before.
        _ = connection.client.send_messages(&messages);
        let flushed = turns.last().filter(|turn| turn.last() == Some(&Message::Flush));
        for _ in 0..turns.len() - usize::from(flushed.is_some()) {
            self.read(&mut connection, &mut answer, |tag| tag == b'Z');
            connection.unsynced = false;
            connection.skipping = false;
        }
        for message in flushed.into_iter().flatten() {
            connection.unsynced = true;
            if !connection.skipping && *message != Message::Flush {
                self.read(&mut connection, &mut answer, |tag| is_end_of(message, tag));
            }
        }
        if answer.end == End::Complete {
            self.connections[actor] = Some(connection);
        }
        sort_parameters(&mut answer.frames);
        answer
    }

    /// Reads messages up to one that `is_last`, or for a flushed message up to an error.
    fn read(&mut self, from: &mut Connection, answer: &mut Answer, is_last: impl Fn(u8) -> bool) {
        while answer.end == End::Complete {
            let mut frame = match from.client.frame() {
                Ok(frame) => frame,
                Err(error) => {
                    answer.end = if is_timeout(&error) { End::Silent } else { End::Closed };
                    return;
                }
            };
            self.oids.replace(&mut frame);
            fields::comparable(&mut frame, self.manner.errors);
            let tag = frame.tag;
            if tag == b'Z' {
                from.status = frame.body.first().copied().unwrap_or_default();
            }
            from.skipping |= tag == b'E';
            answer.frames.push(frame);
            if is_last(tag) {
                return;
            }
            let last = answer.frames.iter().rev().take(ERRORS_MAX);
            if tag == b'E' && last.filter(|frame| frame.tag == b'E').count() == ERRORS_MAX {
                answer.end = End::Endless;
            }
        }
    }
}

/// Whether a message of type `tag` is the last that the server gives for `message`. An error is, for any.
fn is_end_of(message: &Message, tag: u8) -> bool {
    let last: &[u8] = match message {
        Message::Parse { .. } => b"1",
        Message::Bind { .. } => b"2",
        Message::Close(..) => b"3",
        Message::Describe(..) => b"Tn",
        Message::Execute(..) => b"CIs",
        _ => b"Z",
    };
    tag == b'E' || last.contains(&tag)
}

fn is_timeout(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}

/// Values are bytes here: a start-up packet has no encoding.
fn packet(database: &str, startup: &Startup) -> Vec<u8> {
    let mut body = PROTOCOL.to_be_bytes().to_vec();
    let who = [("user", TRUSTED_USER.as_bytes()), ("database", database.as_bytes())];
    let all = who.into_iter().chain(startup.iter().map(|(name, value)| (name.as_str(), value.as_slice())));
    for (name, value) in all {
        body.extend(name.as_bytes());
        body.push(0);
        body.extend(value);
        body.push(0);
    }
    body.push(0);
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), body.as_slice()].concat()
}

/// Several ParameterStatus in a row say the same in any order, and the server's own depends on what its process has
/// been through (`guc_report_list` is filled from its head).
fn sort_parameters(frames: &mut [Frame]) {
    for run in frames.chunk_by_mut(|a, b| a.tag == b'S' && b.tag == b'S') {
        run.sort_by(|a, b| a.body.cmp(&b.body));
    }
}
