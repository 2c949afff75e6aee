//! One of the two sides: the clients' connections and the answers that they get.

use std::io;
use std::net::SocketAddr;

use anyhow::Result;
use trunkline_probes::testkit::cluster::TRUSTED_USER;
use trunkline_probes::testkit::{Frame, Messages, RawClient};

use super::fields;
use super::oids::Oids;
use super::{Errors, PlayOptions};
use crate::script::{Message, Startup, Turn};

/// The version of the protocol that start-up packets ask for: 3.0.
const PROTOCOL: u32 = 3 << 16;

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All expected messages have come.
    Complete,
    /// The peer has closed.
    Closed,
    /// Messages are missing, and none came within the time limit.
    Silent,
    /// The server sends endless errors: PostgreSQL 18 cannot end a transaction if it must then report a value that does not exist in
    /// the client's encoding.
    Endless,
}

/// SQL that makes a temporary table, also if transactions are read-only by default.
pub(super) const TEMPORARY: &str =
    "begin read write; create temp table first (); drop table pg_temp.first; commit";

/// After this many errors in sequence, the errors count as endless: a turn has only one.
const ERRORS_MAX: usize = 100;

/// The answer to one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// All messages, without the allowed differences.
    pub frames: Vec<Frame>,
    /// How it ended.
    pub end: End,
}

/// A client's connection.
#[derive(Debug)]
struct Connection {
    client: RawClient,
    /// The transaction status of the last ReadyForQuery.
    status: u8,
    /// Whether a message was sent after the last Sync.
    unsynced: bool,
    /// Whether an error came after the last Sync.
    skipping: bool,
}

/// All clients of one side.
#[derive(Debug)]
pub(super) struct Side {
    address: SocketAddr,
    database: String,
    connections: Vec<Option<Connection>>,
    oids: Oids,
    play_options: PlayOptions,
}

impl Side {
    /// A side without clients.
    pub(super) fn new(address: SocketAddr, database: &str, play_options: PlayOptions) -> Self {
        let database = database.to_owned();
        Self { address, database, connections: Vec::new(), oids: Oids::default(), play_options }
    }

    /// Whether a client is connected.
    pub(super) fn is_there(&self, actor: usize) -> bool {
        self.connections.get(actor).is_some_and(Option::is_some)
    }

    /// Whether a client may hold locks or a server connection, because it has not ended its turn or transaction.
    pub(super) fn holds(&self, actor: usize) -> bool {
        let connection = self.connections.get(actor).and_then(Option::as_ref);
        connection.is_some_and(|connection| connection.status != b'I' || connection.unsynced)
    }

    /// The clients that may hold locks or a server connection.
    pub(super) fn holders(&self) -> Vec<usize> {
        (0..self.connections.len()).filter(|actor| self.holds(*actor)).collect()
    }

    /// Sends a start-up packet, and reads the answers up to ReadyForQuery or the refusal.
    ///
    /// # Errors
    /// When nobody listens.
    pub(super) fn login(&mut self, actor: usize, startup: &Startup) -> Result<Answer> {
        self.leave(actor);
        let mut client = RawClient::connect(self.address)?;
        client.set_read_limit(self.play_options.patience)?;
        client.send(&packet(&self.database, startup))?;
        let mut connection = Connection { client, status: b'?', unsynced: false, skipping: false };
        let mut answer = Answer { frames: Vec::new(), end: End::Complete };
        self.read(&mut connection, &mut answer, |tag| tag == b'Z');
        // Process id and cancel key differ for each connection. The messages of the authentication are not compared.
        answer.frames.retain(|frame| !matches!(frame.tag, b'K' | b'R'));
        if answer.end == End::Closed {
            // The proxy has its own text for a wrong option, and sends nothing before it.
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

    /// A client that has logged in makes its first temporary table. This adds a schema in which its connection looks names up, so
    /// PostgreSQL reads each prepared statement again, with its constants, under the current settings.
    pub(super) fn make_temporary(&mut self, actor: usize) {
        if let Some(connection) = self.connections.get_mut(actor).and_then(Option::as_mut) {
            // A client that may not do it now may not do it later either.
            _ = connection.client.sql(TEMPORARY);
        }
    }

    /// Sends Terminate and waits until the peer has closed. Then the client's locks are free.
    pub(super) fn leave(&mut self, actor: usize) {
        let Some(mut gone) = self.connections.get_mut(actor).and_then(Option::take) else { return };
        if gone.client.send_messages(&Messages::new().terminate()).is_ok() {
            // Messages before the close are ignored. Those that belong to a step were already compared.
            while gone.client.frame().is_ok() {}
        }
    }

    /// All clients leave.
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
        // If the peer closes while we send, its reason was sent before.
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

    /// Reads messages up to one for which `is_last` is true. After a Flush, an error is also the last one.
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
            fields::comparable(&mut frame, self.play_options.errors);
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

/// Whether a message of type `tag` is the server's last answer to `message`. An error always is.
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

/// Encodes a start-up packet. Values are bytes, because a start-up packet has no encoding.
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

/// Sorts adjacent ParameterStatus messages. Their order has no meaning, and depends on the history of the server process
/// (`guc_report_list` is filled from its head).
fn sort_parameters(frames: &mut [Frame]) {
    for run in frames.chunk_by_mut(|a, b| a.tag == b'S' && b.tag == b'S') {
        run.sort_by(|a, b| a.body.cmp(&b.body));
    }
}
