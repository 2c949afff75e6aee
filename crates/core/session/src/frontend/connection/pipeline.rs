//! The messages that we send, and the answers that we expect to them.

use std::collections::VecDeque;

use trunkline_wire::Format;
use trunkline_wire::frontend::{
    Bind, Close, CopyData, CopyFail, Describe, Execute, Parse, Query, Target, copy_done, flush, sync,
    terminate,
};
use trunkline_wire::write::has_zero;

use super::error::EncodeError;
use super::expect::Expect;
use super::template::{BindTemplate, BindValues};

/// Encoded messages with their expected answers.
///
/// ```text
///   bytes    [ sent already | unsent                    ]<-- messages are appended
///                           ^ unsent_from
///   expects  [ answers that have not come               ]<-- and what they will be answered with
/// ```
///
/// A [`Connection`](super::Connection) has one pipeline, and messages can be written into it directly. Other pipelines
/// can be filled on any thread and then be moved into it ([`Connection::append`](super::Connection::append)).
///
/// In the protocol, texts and names end at a zero byte. So a text or name with a zero byte inside is an error.
#[derive(Debug, Default)]
pub struct Pipeline {
    bytes: Vec<u8>,
    unsent_from: usize,
    /// The number of bytes that were sent and are no longer in `bytes`.
    bytes_before: u64,
    pub(super) expects: VecDeque<Expect>,
    /// The offset at which the turn begins that has no Sync yet.
    open_turn_at: Option<u64>,
    /// The number of turns: those with a Sync, and simple queries.
    turns: u64,
}

/// The memory of a buffer that grew larger than this is freed when the buffer is empty.
const KEPT_BYTES_MAX: usize = 1 << 20;

impl Pipeline {
    /// An empty pipeline. It allocates no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that the caller must send.
    #[inline]
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        self.bytes.get(self.unsent_from..).unwrap_or_default()
    }

    /// Whether messages since the last Sync or Query need a Sync after them.
    #[must_use]
    pub fn turn_is_open(&self) -> bool {
        self.open_turn_at.is_some()
    }

    /// The number of turns that were put in.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The number of answers that have not come. A batch counts once.
    #[must_use]
    pub fn expected(&self) -> usize {
        self.expects.len()
    }

    /// Tells the pipeline that this many bytes of [`unsent`](Self::unsent) were written to the socket.
    pub fn handle_sent(&mut self, bytes: usize) {
        self.unsent_from = (self.unsent_from + bytes).min(self.bytes.len());
        if self.unsent_from == self.bytes.len() {
            self.bytes_before += self.bytes.len() as u64;
            self.unsent_from = 0;
            if self.bytes.capacity() > KEPT_BYTES_MAX {
                self.bytes = Vec::new();
            } else {
                self.bytes.clear();
            }
        }
    }

    /// The number of bytes that were ever written to the socket.
    pub(super) fn sent(&self) -> u64 {
        self.bytes_before + self.unsent_from as u64
    }

    /// The offset at which the turn begins that has no Sync yet.
    pub(super) fn open_turn(&self) -> Option<u64> {
        self.open_turn_at
    }

    fn written(&self) -> u64 {
        self.bytes_before + self.bytes.len() as u64
    }

    /// Moves the messages of `other` to the end of this pipeline. None of them may have been sent. `other` keeps its memory.
    pub fn append(&mut self, other: &mut Self) {
        debug_assert!(other.unsent_from == 0 && other.bytes_before == 0, "a part of it was sent already");
        let before = self.written();
        self.bytes.append(&mut other.bytes);
        for expect in other.expects.drain(..) {
            let expect = match (expect.turn_at(), self.open_turn_at) {
                (Some(_), Some(open)) => {
                    self.open_turn_at = None;
                    expect.begun_at(open)
                }
                _ => expect.moved(before),
            };
            self.expects.push_back(expect);
        }
        if let Some(open) = other.open_turn_at.take() {
            self.open_turn_at.get_or_insert(open + before);
        }
        self.turns += std::mem::take(&mut other.turns);
    }

    /// Appends a simple query, which is a complete turn.
    ///
    /// # Errors
    /// [`EncodeError::TurnOpen`] after messages without a Sync: if one of them failed, the server would skip this query
    /// too.
    pub fn query(&mut self, text: &[u8]) -> Result<(), EncodeError> {
        zero_free("query text", text)?;
        if self.turn_is_open() {
            return Err(EncodeError::TurnOpen);
        }
        let turn_at = self.written();
        Query { text }.try_encode(&mut self.bytes)?;
        self.expects.push_back(Expect::Query { turn_at });
        self.turns += 1;
        Ok(())
    }

    /// Prepares a statement. An empty name means the unnamed statement. For a parameter type of 0 the server finds the
    /// type out.
    ///
    /// # Errors
    /// [`EncodeError`] when it does not fit a message.
    pub fn parse(&mut self, name: &[u8], text: &[u8], parameter_types: &[u32]) -> Result<(), EncodeError> {
        zero_free("statement name", name)?;
        zero_free("query text", text)?;
        self.extended(Expect::Parse, |out| Ok(Parse::write(out, name, text, parameter_types)?))
    }

    /// Makes a portal from a statement and values for its parameters.
    ///
    /// # Errors
    /// [`EncodeError`] when it does not fit a message.
    pub fn bind(
        &mut self,
        portal: &[u8],
        statement: &[u8],
        parameter_formats: &[Format],
        values: &[Option<&[u8]>],
        result_formats: &[Format],
    ) -> Result<(), EncodeError> {
        zero_free("portal name", portal)?;
        zero_free("statement name", statement)?;
        self.extended(Expect::Bind, |out| {
            Ok(Bind::write(out, portal, statement, parameter_formats, values, result_formats)?)
        })
    }

    /// Appends a Bind from a template, with values that `fill` writes.
    ///
    /// # Errors
    /// The error of `fill`, or an [`EncodeError`]; nothing is then written.
    pub fn bind_by<E: From<EncodeError>>(
        &mut self,
        template: &BindTemplate,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.extended(Expect::Bind, |out| template.write_bind(out, fill))
    }

    /// Appends an item of a batch: a Bind from a template, and an Execute of all rows. Consecutive items are one
    /// entry of the queue. Their answers come as [`Event::Batch`](super::Event::Batch).
    ///
    /// # Errors
    /// The error of `fill`, or an [`EncodeError`]; nothing is then written.
    #[inline]
    pub fn bind_execute<E: From<EncodeError>>(
        &mut self,
        template: &BindTemplate,
        fill: impl FnOnce(&mut BindValues<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let turn_at = self.written();
        template.write_bind_execute(&mut self.bytes, fill)?;
        self.open_turn_at.get_or_insert(turn_at);
        match self.expects.back_mut() {
            Some(Expect::BindExecute { left }) if *left < u32::MAX => *left += 1,
            _ => self.expects.push_back(Expect::BindExecute { left: 1 }),
        }
        Ok(())
    }

    /// Asks for the types of a statement's parameters and columns, or of a portal's columns.
    ///
    /// # Errors
    /// [`EncodeError::ZeroByte`].
    pub fn describe(&mut self, target: Target, name: &[u8]) -> Result<(), EncodeError> {
        zero_free("name", name)?;
        let expect = match target {
            Target::Statement => Expect::DescribeStatement,
            Target::Portal => Expect::DescribePortal,
        };
        self.extended(expect, |out| {
            Describe { target, name }.encode(out);
            Ok(())
        })
    }

    /// Runs a portal. If `max_rows` is 0, it returns all rows.
    ///
    /// # Errors
    /// [`EncodeError::ZeroByte`].
    pub fn execute(&mut self, portal: &[u8], max_rows: i32) -> Result<(), EncodeError> {
        zero_free("portal name", portal)?;
        self.extended(Expect::Execute, |out| {
            Execute { portal, max_rows }.encode(out);
            Ok(())
        })
    }

    /// Closes a statement or a portal.
    ///
    /// # Errors
    /// [`EncodeError::ZeroByte`].
    pub fn close(&mut self, target: Target, name: &[u8]) -> Result<(), EncodeError> {
        zero_free("name", name)?;
        self.extended(Expect::Close, |out| {
            Close { target, name }.encode(out);
            Ok(())
        })
    }

    /// Ends a turn with a Sync.
    pub fn sync(&mut self) {
        let turn_at = self.open_turn_at.take().unwrap_or_else(|| self.written());
        sync::encode(&mut self.bytes);
        self.expects.push_back(Expect::Sync { turn_at });
        self.turns += 1;
    }

    /// Appends a Sync. If `again` is set, it replaces a Sync that a COPY has dropped.
    pub(super) fn sync_or_repeat(&mut self, again: bool) {
        self.sync();
        self.turns -= u64::from(again);
    }

    /// Asks for the answers so far. The turn does not end.
    pub fn flush(&mut self) {
        flush::encode(&mut self.bytes);
    }

    /// Sends copied data. Before [`Event::CopyIn`](super::Event::CopyIn) it is not known whether the server accepts it.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] for more than 2^31 - 5 bytes.
    pub fn copy_data(&mut self, data: &[u8]) -> Result<(), EncodeError> {
        Ok(CopyData { data }.try_encode(&mut self.bytes)?)
    }

    /// Ends the copied data. In the extended protocol a Sync must follow.
    pub fn copy_done(&mut self) {
        copy_done::encode(&mut self.bytes);
        self.expects.push_back(Expect::CopyEnd);
    }

    /// Ends the copy with an error. In the extended protocol a Sync must follow.
    ///
    /// # Errors
    /// [`EncodeError`] when the reason does not fit a message.
    pub fn copy_fail(&mut self, reason: &[u8]) -> Result<(), EncodeError> {
        zero_free("reason", reason)?;
        CopyFail { message: reason }.try_encode(&mut self.bytes)?;
        self.expects.push_back(Expect::CopyEnd);
        Ok(())
    }

    /// Ends the session. No message may follow.
    pub fn terminate(&mut self) {
        terminate::encode(&mut self.bytes);
    }

    fn extended<E: From<EncodeError>>(
        &mut self,
        expect: Expect,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let turn_at = self.written();
        write(&mut self.bytes)?;
        self.open_turn_at.get_or_insert(turn_at);
        self.expects.push_back(expect);
        Ok(())
    }
}

fn zero_free(what: &'static str, text: &[u8]) -> Result<(), EncodeError> {
    if has_zero(text) { Err(EncodeError::ZeroByte(what)) } else { Ok(()) }
}
