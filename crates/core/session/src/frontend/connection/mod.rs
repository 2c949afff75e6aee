//! A server connection after the login: encodes our messages, and knows which of them each answer belongs to.
//!
//! ```text
//!   commands --> Pipeline: bytes ---unsent, handle_sent---> socket
//!                   `----> expects: Parse Bind Execute Sync | Query | ...
//!                              ^ head
//!   socket --input--> next_event: a message is the head's answer, or one that may come at any time
//! ```
//!
//! Order of calls: put messages in through [`Connection::pipeline`] or [`Connection::append`]. Write
//! [`Pipeline::unsent`] to the socket, and report it with [`Pipeline::handle_sent`]. Give all bytes that were received
//! and not consumed to [`Connection::next_event`], until it returns `None`. After an error or [`Event::Fatal`], the
//! connection is over: call [`Connection::handle_end`] for the fates of the turns without a complete answer, and close.
//!
//! After an error within a turn, the server skips the messages up to the turn's Sync, so their expected answers are
//! dropped. Of the received data, only the values of parameters are kept, and they have bounds.

mod answer;
mod error;
mod event;
mod expect;
mod pipeline;
mod runs;
mod template;

use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::limits::{Limits, MESSAGE_BYTES};
use trunkline_wire::startup::CancelRequest;
use trunkline_wire::{Header, OverLimit, frame};

pub use error::EncodeError;
pub use event::Event;
pub use pipeline::Pipeline;
pub use template::{BindTemplate, BindValues};

use super::error::Misbehaviour;
use super::ready::ServerReady;
use answer::Within;
use expect::Expect;

/// The limits on what a server may send after the login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The limits of messages without rows and long texts.
    pub limits: Limits,
    /// The limit of any message, such as a row, an error or a piece of copied data, by its length field. The caller
    /// must collect a complete message before it can be read, so this limits its memory. The default is
    /// [`MESSAGE_BYTES`], which PostgreSQL never exceeds.
    pub server_message_bytes: u32,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { limits: Limits::default(), server_message_bytes: MESSAGE_BYTES }
    }
}

impl ConnectionLimits {
    #[inline]
    fn check(&self, header: Header) -> Result<(), Misbehaviour> {
        if header.length > self.server_message_bytes {
            let (tag, length, limit) = (header.tag, header.length, self.server_message_bytes);
            return Err(Misbehaviour::OverLimit(OverLimit {
                tag,
                length,
                limit,
                name: "server_message_bytes",
            }));
        }
        self.limits.check_server_after_auth(header).map_err(Misbehaviour::OverLimit)
    }
}

/// What is known of a turn whose answer was not complete when the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// No byte of the turn was sent. It was not run, and can be sent on another connection.
    NotRun,
    /// The turn was sent, at least in part. It is not known whether it has taken effect.
    MayHaveRun,
    /// The turn's error has come; only its ReadyForQuery is missing.
    Failed,
}

/// A server connection after the login; see the module.
#[derive(Debug)]
pub struct Connection {
    pipeline: Pipeline,
    within: Within,
    status: TransactionStatus,
    ready: Box<ServerReady>,
    limits: ConnectionLimits,
    turns_over: u64,
    /// The number of turns whose Syncs a COPY has dropped. The next ReadyForQuery ends them.
    lost_turns: u32,
    over: bool,
}

impl Connection {
    /// A connection after its login.
    #[must_use]
    pub fn new(ready: Box<ServerReady>, limits: ConnectionLimits) -> Self {
        Self {
            pipeline: Pipeline::new(),
            within: Within::Start,
            status: ready.status,
            ready,
            limits,
            turns_over: 0,
            lost_turns: 0,
            over: false,
        }
    }

    /// What the server reported. The parameters have their latest values.
    #[must_use]
    pub fn server(&self) -> &ServerReady {
        &self.ready
    }

    /// The state of the transaction in the last ReadyForQuery.
    #[must_use]
    pub fn status(&self) -> TransactionStatus {
        self.status
    }

    /// Whether no answer is expected and no turn is open.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let awaited = self.pipeline.expects.iter().any(|expect| *expect != Expect::CopyEnd);
        !self.over && !awaited && !self.pipeline.turn_is_open()
    }

    /// Whether the connection is over, after an error or [`Event::Fatal`].
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The number of turns that [`Event::Ready`] has ended.
    #[must_use]
    pub fn turns_over(&self) -> u64 {
        self.turns_over
    }

    /// The pipeline: the caller writes messages into it, and it holds the bytes to send.
    #[inline]
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// The bytes that the caller must send.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        self.pipeline.unsent()
    }

    /// Moves all messages of `messages` to the end of this connection's pipeline.
    pub fn append(&mut self, messages: &mut Pipeline) {
        self.pipeline.append(messages);
    }

    /// Refuses to send copied data, after [`Event::CopyIn`]. The turn ends with an error.
    ///
    /// # Errors
    /// [`EncodeError`] when the reason does not fit a message.
    pub fn refuse_copy_in(&mut self, reason: &[u8]) -> Result<(), EncodeError> {
        if !matches!(self.within, Within::CopyIn) {
            return Ok(());
        }
        let expects = &self.pipeline.expects;
        let in_query = matches!(expects.front(), Some(Expect::Query { .. }));
        // Another message was sent behind the COPY. The COPY reads that message and fails.
        let read = expects.len() > 1 || matches!(expects.front(), Some(Expect::BindExecute { left: 2.. }));
        if in_query || !read {
            self.pipeline.copy_fail(reason)?;
        }
        let sync_is_sent = self.pipeline.expects.iter().any(|expect| matches!(expect, Expect::Sync { .. }));
        if !in_query && !sync_is_sent {
            self.pipeline.sync_or_repeat(self.lost_turns > 0);
            self.lost_turns = self.lost_turns.saturating_sub(1);
        }
        Ok(())
    }

    /// Appends a CancelRequest to `out`, which asks the server to cancel the query of this connection. Send it as the
    /// only packet on a new connection. Returns `false` if the server gave no cancel key.
    pub fn cancel_request(&self, out: &mut Vec<u8>) -> bool {
        let key = &self.ready.secret_key;
        if !key.is_empty() {
            CancelRequest { process_id: self.ready.process_id, secret_key: key }.encode(out);
        }
        !key.is_empty()
    }

    /// Ends the connection. Returns the fates of the turns without a complete answer, in their order. A turn that has
    /// no Sync yet is the last.
    pub fn handle_end(&mut self) -> Vec<Fate> {
        self.over = true;
        let sent = self.pipeline.sent();
        let open = self.pipeline.open_turn();
        let lost = (0..self.lost_turns).map(|_| 0);
        let waiting = self.pipeline.expects.iter().filter_map(|expect| expect.turn_at());
        let mut failed = matches!(self.within, Within::Skipping | Within::QueryFailed);
        let fate = |turn_at| match turn_at {
            _ if std::mem::take(&mut failed) => Fate::Failed,
            turn_at if turn_at >= sent => Fate::NotRun,
            _ => Fate::MayHaveRun,
        };
        lost.chain(waiting).chain(open).map(fate).collect()
    }

    /// The next event from the server. `input` must hold all bytes that were received and not consumed yet; the event's
    /// bytes are removed from its front. `None` means that `input` is empty or holds only the beginning of a message.
    ///
    /// # Errors
    /// [`Misbehaviour`]: the server broke the protocol. The connection is then over.
    #[inline]
    pub fn next_event<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Event<'b>>, Misbehaviour> {
        if self.over {
            *input = &[];
            return Ok(None);
        }
        let outcome = self.step(input);
        self.over |= matches!(outcome, Err(_) | Ok(Some(Event::Fatal(_))));
        outcome
    }

    /// The highest number of bytes that the caller may have to collect before [`next_event`](Self::next_event)
    /// consumes any.
    #[must_use]
    pub fn input_bytes_max(&self) -> usize {
        let small = self.limits.limits.server_small_message_bytes;
        self.limits.server_message_bytes.max(small) as usize + 1
    }

    fn step<'b>(&mut self, input: &mut &'b [u8]) -> Result<Option<Event<'b>>, Misbehaviour> {
        if let Some(event) = self.run(input) {
            return Ok(Some(event));
        }
        let Some(header) = frame::header(input).map_err(Misbehaviour::Frame)? else { return Ok(None) };
        // The type is checked before the length: a wrong type shows best that this is not the beginning of a message,
        // and then we need not wait for the rest of it.
        self.check_due(header.tag)?;
        self.limits.check(header)?;
        let Some((frame, rest)) = input.split_at_checked(header.frame_bytes()) else { return Ok(None) };
        *input = rest;
        let body = frame.get(frame::HEADER_BYTES..).unwrap_or_default();
        self.message(header.tag, body).map(Some)
    }
}
