//! A server connection after the login: encodes what is asked, and knows what each answer is about.
//!
//! ```text
//!   commands --> Pipeline: bytes ---unsent, handle_sent---> socket
//!                   `----> expects: Parse Bind Execute Sync | Query | ...
//!                              ^ head
//!   socket --input--> next_event: a message is the head's answer, or one that may come at any time
//! ```
//!
//! Call order: messages through [`Connection::pipeline`] or [`Connection::append`]; write
//! [`Pipeline::unsent`] and tell [`Pipeline::handle_sent`]; give all bytes that were received and not consumed
//! to [`Connection::next_event`] until it gives `None`. An error, or [`Event::Fatal`], is final: ask
//! [`Connection::handle_end`] what became of the turns that wait, and close.
//!
//! An error within a turn drops the answers that are expected up to its Sync, for the server skips these messages.
//! Of what was received, only the parameters' values are kept, which have bounds.

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

/// Bounds of what a server may send after the login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Messages that carry no rows and no long texts.
    pub limits: Limits,
    /// Any message, by its length on the wire: a row, an error, a piece of copied data. The shell must gather a whole message
    /// before it is understood, so this bounds its memory. Default: [`MESSAGE_BYTES`], which PostgreSQL never exceeds.
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

/// What became of a turn that was not answered to its end when the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// No byte of it was sent: it was not run, and can be sent again elsewhere.
    NotRun,
    /// It was sent, at least in part: whether it has taken effect is not known.
    MayHaveRun,
    /// Its error had come; only the end of the turn is missing.
    Failed,
}

/// See the module.
#[derive(Debug)]
pub struct Connection {
    pipeline: Pipeline,
    within: Within,
    status: TransactionStatus,
    ready: Box<ServerReady>,
    limits: ConnectionLimits,
    turns_over: u64,
    /// Turns whose end a COPY has swallowed; the next ReadyForQuery ends them.
    lost_turns: u32,
    over: bool,
}

impl Connection {
    /// A connection whose login is done.
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

    /// What the server said of itself, parameters at their latest values.
    #[must_use]
    pub fn server(&self) -> &ServerReady {
        &self.ready
    }

    /// The transaction's state at the last ReadyForQuery.
    #[must_use]
    pub fn status(&self) -> TransactionStatus {
        self.status
    }

    /// Whether nothing is awaited and no turn is open.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let awaited = self.pipeline.expects.iter().any(|expect| *expect != Expect::CopyEnd);
        !self.over && !awaited && !self.pipeline.turn_is_open()
    }

    /// Whether an error or the server's farewell has ended it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Turns that [`Event::Ready`] has ended.
    #[must_use]
    pub fn turns_over(&self) -> u64 {
        self.turns_over
    }

    /// Where messages are written, and where those are that wait to be sent.
    #[inline]
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Bytes that wait to be sent.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        self.pipeline.unsent()
    }

    /// Sends the messages of `messages` after those that are there; `messages` is empty then.
    pub fn append(&mut self, messages: &mut Pipeline) {
        self.pipeline.append(messages);
    }

    /// Declines a copy that the server waits for data of, after [`Event::CopyIn`]. Its turn ends with an error.
    ///
    /// # Errors
    /// [`EncodeError`] when the reason does not fit a message.
    pub fn refuse_copy_in(&mut self, reason: &[u8]) -> Result<(), EncodeError> {
        if !matches!(self.within, Within::CopyIn) {
            return Ok(());
        }
        let expects = &self.pipeline.expects;
        let in_query = matches!(expects.front(), Some(Expect::Query { .. }));
        // Something else was sent into the COPY, and the server fails it for that.
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

    /// Appends to `out` the packet that, as the first and last on a connection of its own, asks the server to cancel
    /// what this one runs. `false` when the server gave no key for that.
    pub fn cancel_request(&self, out: &mut Vec<u8>) -> bool {
        let key = &self.ready.secret_key;
        if !key.is_empty() {
            CancelRequest { process_id: self.ready.process_id, secret_key: key }.encode(out);
        }
        !key.is_empty()
    }

    /// The connection has ended, or is given up: the fates of the turns that wait, in their order. An open turn without a Sync
    /// is the last.
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

    /// The next thing that the server said. Takes it off the front of `input`, which has all bytes that were received and
    /// not consumed yet; `None` means that the rest is the beginning of a message, or nothing.
    ///
    /// # Errors
    /// [`Misbehaviour`]: the server broke the protocol. The connection is over then.
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

    /// Most bytes that may have to be gathered before [`next_event`](Self::next_event) can consume any.
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
        // The type before the length: a peer that is out of step is best told by that, and nothing is waited for.
        self.check_due(header.tag)?;
        self.limits.check(header)?;
        let Some((frame, rest)) = input.split_at_checked(header.frame_bytes()) else { return Ok(None) };
        *input = rest;
        let body = frame.get(frame::HEADER_BYTES..).unwrap_or_default();
        self.message(header.tag, body).map(Some)
    }
}
