//! A session: what was encoded, what it will be answered with, and the answers as events.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use trunkline_session::frontend::connection::{BindTemplate, ConnectionLimits, EncodeError, Fate};
use trunkline_session::frontend::rows::Frames;
use trunkline_session::frontend::{Connection, Event, Pipeline, ServerReady};
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frontend::Target;
use trunkline_wire::{HEADER_BYTES, frame};

use crate::result::{Columns, Notification, RESULT_BYTES_MAX, ResultSet};
use crate::status::{Status, TRUNKLINE_CLOSED, TRUNKLINE_PROTOCOL, TRUNKLINE_UNENCODABLE};

/// Events that wait to be taken; the bytes after them are kept as they came.
const EVENTS_MAX: usize = 1024;
/// Emptied results whose memory is kept for the next.
const SPARE_MAX: usize = 4;
/// A result whose memory is larger than this is not kept.
const SPARE_BYTES_MAX: usize = 8 << 20;

/// A command's result, or a batch's, or a piece of it.
pub const TRUNKLINE_EVENT_RESULT: i32 = 1;
/// What was asked for in a Describe: columns and parameters, no rows.
pub const TRUNKLINE_EVENT_DESCRIBED: i32 = 2;
/// A turn is over.
pub const TRUNKLINE_EVENT_READY: i32 = 3;
/// A command failed; what follows it in its turn is not run.
pub const TRUNKLINE_EVENT_ERROR: i32 = 4;
/// The server ends the connection and says why.
pub const TRUNKLINE_EVENT_FATAL: i32 = 5;
/// The server waits for copied data.
pub const TRUNKLINE_EVENT_COPY_IN: i32 = 6;
/// Copied data will come.
pub const TRUNKLINE_EVENT_COPY_OUT: i32 = 7;
/// Copied data.
pub const TRUNKLINE_EVENT_COPY_DATA: i32 = 8;
/// A notice; at any time.
pub const TRUNKLINE_EVENT_NOTICE: i32 = 9;
/// A NOTIFY; at any time.
pub const TRUNKLINE_EVENT_NOTIFICATION: i32 = 10;

/// More of the same result will come as a further event.
pub const TRUNKLINE_MORE: i32 = 1;
/// The Execute gave as many rows as it was to; the portal may have more.
pub const TRUNKLINE_SUSPENDED: i32 = 2;

/// Something that the server said.
#[derive(Debug)]
pub struct Happened {
    /// One of `TRUNKLINE_EVENT_...`.
    pub kind: i32,
    /// `TRUNKLINE_MORE`, `TRUNKLINE_SUSPENDED`, or neither.
    pub flags: i32,
    /// By kind: turns that are over, the index of the item that failed, the format of copied data.
    pub number: u64,
    /// What came, where something did.
    pub result: Option<ResultSet>,
}

/// A Bind that is the same but for its values.
#[derive(Debug)]
pub struct Template {
    pub(crate) bind: BindTemplate,
    pub(crate) binary: bool,
}

/// What is awaited, as far as results need to know.
#[derive(Debug)]
enum Awaited {
    Query,
    DescribeStatement,
    DescribePortal,
    Execute {
        binary: bool,
    },
    Batch {
        template: Arc<Template>,
        left: u32,
        /// Items that are done.
        done: u64,
        /// Whether the next item belongs to it.
        open: bool,
    },
    Sync,
}

/// What carries a session's bytes, where this library does.
pub trait Carrier: Any + Send {
    /// Takes the last bytes, as far as they go without waiting.
    fn farewell(&mut self, bytes: &[u8]);
}

/// See the module.
pub struct Session {
    connection: Connection,
    awaited: VecDeque<Awaited>,
    current: Option<ResultSet>,
    described: Option<ResultSet>,
    events: VecDeque<Happened>,
    tail: Vec<u8>,
    spare: Vec<ResultSet>,
    piece_bytes: usize,
    /// Why the last call failed.
    pub message: String,
    /// What carries its bytes; `None` where the caller does.
    pub carrier: Option<Box<dyn Carrier>>,
}

impl Session {
    /// A session of a connection that is ready for its first query.
    #[must_use]
    pub fn new(connection: Connection) -> Self {
        Self {
            connection,
            awaited: VecDeque::new(),
            current: None,
            described: None,
            events: VecDeque::new(),
            tail: Vec::new(),
            spare: Vec::new(),
            piece_bytes: RESULT_BYTES_MAX,
            message: String::new(),
            carrier: None,
        }
    }

    pub(crate) fn of_ready(ready: Box<ServerReady>, message_bytes: Option<u32>) -> Self {
        let mut limits = ConnectionLimits::default();
        if let Some(bytes) = message_bytes {
            limits.server_message_bytes = bytes;
        }
        Self::new(Connection::new(ready, limits))
    }

    /// The connection, to look at.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The transaction's state at the last ReadyForQuery.
    #[must_use]
    pub fn status(&self) -> TransactionStatus {
        self.connection.status()
    }

    /// From how many bytes on a result comes in pieces.
    pub(crate) fn set_piece_bytes(&mut self, bytes: usize) {
        self.piece_bytes = bytes.clamp(1, RESULT_BYTES_MAX);
    }

    /// The bytes that wait to be sent.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        self.connection.unsent()
    }

    /// This many of them were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.connection.pipeline().handle_sent(bytes);
    }

    /// Whether nothing is awaited, and no event waits to be taken.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.connection.is_idle() && self.events.is_empty()
    }

    /// The connection has ended: the fates of the turns that wait.
    pub fn end(&mut self) -> Vec<Fate> {
        self.connection.handle_end()
    }

    /// Writes a message, and notes what it will be answered with.
    fn encode(
        &mut self,
        awaited: Option<Awaited>,
        write: impl FnOnce(&mut Pipeline) -> Result<(), EncodeError>,
    ) -> Result<(), Status> {
        if self.connection.is_over() {
            return Err(Status(TRUNKLINE_CLOSED));
        }
        if let Err(error) = write(self.connection.pipeline()) {
            return Err(self.unencodable(error));
        }
        if let Some(Awaited::Batch { open, .. }) = self.awaited.back_mut() {
            *open = false;
        }
        self.awaited.extend(awaited);
        Ok(())
    }

    #[cold]
    fn unencodable(&mut self, error: EncodeError) -> Status {
        self.message = error.to_string();
        Status(TRUNKLINE_UNENCODABLE)
    }

    /// A message without an answer of its own, or none that is told.
    pub fn plain(
        &mut self,
        write: impl FnOnce(&mut Pipeline) -> Result<(), EncodeError>,
    ) -> Result<(), Status> {
        self.encode(None, write)
    }

    /// A simple query.
    pub fn query(&mut self, text: &[u8]) -> Result<(), Status> {
        self.encode(Some(Awaited::Query), |pipeline| pipeline.query(text))
    }

    /// A Describe of a statement or a portal.
    pub fn describe(&mut self, target: Target, name: &[u8]) -> Result<(), Status> {
        let awaited = match target {
            Target::Statement => Awaited::DescribeStatement,
            Target::Portal => Awaited::DescribePortal,
        };
        self.encode(Some(awaited), |pipeline| pipeline.describe(target, name))
    }

    /// An Execute of a portal whose results are binary or not.
    pub fn execute(&mut self, portal: &[u8], max_rows: i32, binary: bool) -> Result<(), Status> {
        self.encode(Some(Awaited::Execute { binary }), |pipeline| pipeline.execute(portal, max_rows))
    }

    /// The end of a turn.
    pub fn sync(&mut self) -> Result<(), Status> {
        self.encode(Some(Awaited::Sync), |pipeline| {
            pipeline.sync();
            Ok(())
        })
    }

    /// Declines copied data that the server waits for.
    pub fn refuse_copy_in(&mut self, reason: &[u8]) -> Result<(), Status> {
        let was_open = self.connection.pipeline().turn_is_open();
        self.connection.refuse_copy_in(reason).map_err(|error| self.unencodable(error))?;
        if was_open && !self.connection.pipeline().turn_is_open() {
            self.awaited.push_back(Awaited::Sync);
        }
        Ok(())
    }

    /// Whether messages were encoded that want a Sync after them.
    pub fn turn_is_open(&mut self) -> bool {
        self.connection.pipeline().turn_is_open()
    }

    /// An item of a batch: Bind and Execute.
    #[inline]
    pub fn item<'v>(
        &mut self,
        template: &Arc<Template>,
        values: impl Iterator<Item = Option<&'v [u8]>>,
    ) -> Result<(), Status> {
        if self.connection.is_over() {
            return Err(Status(TRUNKLINE_CLOSED));
        }
        let written = self.connection.pipeline().bind_execute::<EncodeError>(&template.bind, |to| {
            for value in values {
                match value {
                    Some(value) => to.value(value)?,
                    None => to.null(),
                }
            }
            Ok(())
        });
        if let Err(error) = written {
            return Err(self.unencodable(error));
        }
        match self.awaited.back_mut() {
            Some(Awaited::Batch { template: last, left, open: true, .. })
                if Arc::ptr_eq(last, template) && *left < u32::MAX =>
            {
                *left += 1;
            }
            _ => self.begin_batch(template),
        }
        Ok(())
    }

    fn begin_batch(&mut self, template: &Arc<Template>) {
        if let Some(Awaited::Batch { open, .. }) = self.awaited.back_mut() {
            *open = false;
        }
        self.awaited.push_back(Awaited::Batch {
            template: Arc::clone(template),
            left: 1,
            done: 0,
            open: true,
        });
    }

    /// Takes bytes that were received.
    ///
    /// # Errors
    /// `TRUNKLINE_PROTOCOL` when the server broke the protocol; events from before that can still be taken.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Status> {
        let mut rest = bytes;
        if !self.tail.is_empty() {
            self.complete_tail(&mut rest);
            self.read_tail()?;
        }
        if !self.tail.is_empty() {
            self.tail.extend_from_slice(rest);
            return Ok(());
        }
        let outcome = self.read(&mut rest);
        self.tail.extend_from_slice(rest);
        outcome
    }

    /// Moves what the message lacks whose beginning is kept: what follows it is read from where it lies.
    fn complete_tail(&mut self, rest: &mut &[u8]) {
        loop {
            let whole = match frame::header(&self.tail) {
                Ok(Some(header)) => header.frame_bytes(),
                Ok(None) => HEADER_BYTES,
                Err(_) => return,
            };
            let lacking = whole.saturating_sub(self.tail.len()).min(rest.len());
            let (message, after) = rest.split_at(lacking);
            self.tail.extend_from_slice(message);
            *rest = after;
            if lacking == 0 || whole > HEADER_BYTES {
                return;
            }
        }
    }

    fn read_tail(&mut self) -> Result<(), Status> {
        let mut tail = std::mem::take(&mut self.tail);
        let mut rest = &*tail;
        let outcome = self.read(&mut rest);
        let left = rest.len();
        let read = tail.len() - left;
        tail.drain(..read);
        if left == 0 && tail.capacity() > SPARE_BYTES_MAX {
            tail = Vec::new();
        }
        self.tail = tail;
        outcome
    }

    /// The next thing that the server said; `None` when more bytes are needed.
    ///
    /// # Errors
    /// As [`feed`](Self::feed).
    pub fn next_event(&mut self) -> Result<Option<Happened>, Status> {
        if self.events.is_empty() && !self.tail.is_empty() && !self.connection.is_over() {
            self.read_tail()?;
        }
        Ok(self.events.pop_front())
    }

    /// Gives the memory of a result back for the next one.
    pub fn recycle(&mut self, mut result: ResultSet) {
        if self.spare.len() < SPARE_MAX && result.bytes.capacity() <= SPARE_BYTES_MAX {
            result.clear();
            self.spare.push(result);
        }
    }

    fn read(&mut self, rest: &mut &[u8]) -> Result<(), Status> {
        while self.events.len() < EVENTS_MAX {
            match self.connection.next_event(rest) {
                Ok(Some(event)) => self.take(event),
                Ok(None) => break,
                Err(misbehaviour) => {
                    self.message = format!("the server broke the protocol: {misbehaviour}");
                    return Err(Status(TRUNKLINE_PROTOCOL));
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::ParseComplete | Event::BindComplete | Event::CloseComplete => {}
            Event::CopyDone | Event::ParameterStatus(_) => {}
            Event::Parameters(message) => {
                let mut described = self.fresh();
                described.parameters.extend(message.types);
                self.described = Some(described);
            }
            Event::Columns(message) => self.columns(Arc::new(Columns::of(&message))),
            Event::NoData => self.columns(Arc::default()),
            Event::Rows { frames, count } => {
                self.current().take_rows(frames, count);
                self.cut();
            }
            Event::Batch { frames, .. } => self.batch(frames),
            Event::Complete(complete) => {
                self.current().end_item(complete.command_tag);
                self.command_over(0);
            }
            Event::EmptyQuery => {
                self.current().end_item(b"");
                self.command_over(0);
            }
            Event::Suspended => self.command_over(TRUNKLINE_SUSPENDED),
            Event::CopyIn(response) => self.push(TRUNKLINE_EVENT_COPY_IN, response.format.0 as u64, None),
            Event::CopyOut(response) => self.push(TRUNKLINE_EVENT_COPY_OUT, response.format.0 as u64, None),
            Event::CopyData { frames, .. } => {
                let mut result = self.fresh();
                Frames::copied(frames).for_each(|data| result.bytes.extend_from_slice(data));
                self.push(TRUNKLINE_EVENT_COPY_DATA, 0, Some(result));
            }
            Event::Error(error) => self.failed(ResultSet::of_error(&error)),
            Event::Fatal(error) => {
                self.push(TRUNKLINE_EVENT_FATAL, 0, Some(ResultSet::of_error(&error)));
            }
            Event::Ready { turns, .. } => self.turn_over(turns),
            Event::Notice(notice) => {
                self.push(TRUNKLINE_EVENT_NOTICE, 0, Some(ResultSet::of_fields(notice.iter())));
            }
            Event::Notification(message) => {
                let notification = Notification {
                    process_id: message.process_id,
                    channel: message.channel.to_vec(),
                    payload: message.payload.to_vec(),
                };
                let result = ResultSet::of_notification(notification);
                self.push(TRUNKLINE_EVENT_NOTIFICATION, 0, Some(result));
            }
        }
    }

    fn push(&mut self, kind: i32, number: u64, result: Option<ResultSet>) {
        self.events.push_back(Happened { kind, flags: 0, number, result });
    }

    fn fresh(&mut self) -> ResultSet {
        self.spare.pop().unwrap_or_default()
    }

    /// The result that comes in.
    fn current(&mut self) -> &mut ResultSet {
        let Self { awaited, current, spare, described, .. } = self;
        current.get_or_insert_with(|| {
            let mut result = spare.pop().unwrap_or_default();
            result.binary = match awaited.front() {
                Some(Awaited::Execute { binary }) => *binary,
                Some(Awaited::Batch { template, .. }) => template.binary,
                _ => false,
            };
            // A portal was described just before.
            if let Some(described) = described.take() {
                result.columns = described.columns;
            }
            result
        })
    }

    fn columns(&mut self, columns: Arc<Columns>) {
        match self.awaited.front() {
            Some(Awaited::DescribeStatement) => {
                let mut described = self.described.take().unwrap_or_default();
                described.columns = Some(columns);
                self.awaited.pop_front();
                self.push(TRUNKLINE_EVENT_DESCRIBED, 0, Some(described));
            }
            Some(Awaited::DescribePortal) => {
                self.awaited.pop_front();
                let described = ResultSet::of_columns(columns);
                if let Some(Awaited::Execute { .. }) = self.awaited.front() {
                    self.described = Some(described);
                } else {
                    self.push(TRUNKLINE_EVENT_DESCRIBED, 0, Some(described));
                }
            }
            _ => self.current().columns = Some(columns),
        }
    }

    /// A command is over; of a simple query another may follow.
    fn command_over(&mut self, flags: i32) {
        if !matches!(self.awaited.front(), Some(Awaited::Query)) {
            self.awaited.pop_front();
        }
        let result = self.current.take();
        self.events.push_back(Happened { kind: TRUNKLINE_EVENT_RESULT, flags, number: 0, result });
    }

    /// Hands a piece out when there is enough for one.
    fn cut(&mut self) {
        if self.current.as_ref().is_some_and(|current| current.bytes.len() >= self.piece_bytes) {
            let result = self.current.take();
            let next = result.as_ref().map(|result| (result.binary, result.columns.clone()));
            self.events.push_back(Happened {
                kind: TRUNKLINE_EVENT_RESULT,
                flags: TRUNKLINE_MORE,
                number: 0,
                result,
            });
            if let Some((binary, columns)) = next {
                let current = self.current();
                current.binary = binary;
                current.columns = columns;
            }
        }
    }

    fn batch(&mut self, frames: &[u8]) {
        let mut rest = frames;
        while !rest.is_empty() {
            self.batch_over(false);
            let items_max = match self.awaited.front() {
                Some(Awaited::Batch { left, .. }) => *left,
                // The connection counts alike; else what is left is nobody's.
                _ => return,
            };
            let (bytes, items) = self.current().take_batch(rest, items_max);
            rest = rest.get(bytes..).unwrap_or_default();
            if let Some(Awaited::Batch { left, done, .. }) = self.awaited.front_mut() {
                *left -= items.min(*left);
                *done += u64::from(items);
            }
            if bytes == 0 {
                return;
            }
        }
        self.batch_over(false);
        self.cut();
    }

    /// Hands a batch's result out when all of it is there and, unless it `must`, no further item can come.
    fn batch_over(&mut self, must: bool) {
        if let Some(Awaited::Batch { left: 0, open, .. }) = self.awaited.front()
            && (!open || must)
        {
            self.awaited.pop_front();
            let result = self.current.take();
            self.events.push_back(Happened { kind: TRUNKLINE_EVENT_RESULT, flags: 0, number: 0, result });
        }
    }

    fn failed(&mut self, error: ResultSet) {
        self.batch_over(true);
        let item = match self.awaited.front() {
            Some(Awaited::Batch { done, .. }) => *done,
            _ => 0,
        };
        self.current = None;
        self.described = None;
        self.push(TRUNKLINE_EVENT_ERROR, item, Some(error));
    }

    fn turn_over(&mut self, turns: u32) {
        self.batch_over(true);
        let mut left = turns;
        while left > 0
            && let Some(awaited) = self.awaited.pop_front()
        {
            left -= u32::from(matches!(awaited, Awaited::Sync | Awaited::Query));
        }
        self.current = None;
        self.described = None;
        self.push(TRUNKLINE_EVENT_READY, turns.into(), None);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(mut carrier) = self.carrier.take()
            && !self.connection.is_over()
        {
            self.connection.pipeline().terminate();
            carrier.farewell(self.connection.unsent());
        }
    }
}

/// Sizes only: values stay out of logs.
impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("status", &self.status())
            .field("events", &self.events.len())
            .finish_non_exhaustive()
    }
}
