//! A connection and its transport: bytes go out, events come in.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use trunkline_session::frontend::connection::Fate;
use trunkline_session::frontend::rows::{Frames, RowView};
use trunkline_session::frontend::{Connection, Event, Pipeline, Refusal, ServerReady};
use trunkline_wire::backend::TransactionStatus;

use crate::error::{Error, Kind};
use crate::notice::{Notice, Notification};
use crate::transport::Transport;

/// Notifications that wait to be asked for; the oldest are dropped beyond.
pub(crate) const NOTIFICATIONS_MAX: usize = 65_536;
/// An input buffer that became larger than this is given back when it is empty.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Go,
    /// Leave [`Link::drive`] now, in the middle of a turn.
    Stop,
}

type NoticeHandler = Box<dyn FnMut(Notice) + Send>;

/// See the module.
pub(crate) struct Link {
    connection: Connection,
    transport: Transport,
    /// Received bytes; those before `at` are consumed.
    input: Vec<u8>,
    at: usize,
    pub(crate) deadline: Option<Instant>,
    /// What is done when the deadline has passed; it says the next. After that the connection is closed.
    pub(crate) on_deadline: Option<Box<dyn FnOnce() -> Instant + Send>>,
    pub(crate) on_notice: Option<NoticeHandler>,
    pub(crate) notifications: VecDeque<Notification>,
    pub(crate) notifications_dropped: u64,
    /// The server's farewell.
    farewell: Option<Box<Refusal>>,
}

impl Link {
    pub(crate) fn new(connection: Connection, transport: Transport, input: Vec<u8>) -> Self {
        Self {
            connection,
            transport,
            input,
            at: 0,
            deadline: None,
            on_deadline: None,
            on_notice: None,
            notifications: VecDeque::new(),
            notifications_dropped: 0,
            farewell: None,
        }
    }

    /// The connection, its transport, and what was received and not consumed.
    pub(crate) fn into_parts(self) -> (Connection, Transport, Vec<u8>) {
        let Self { connection, transport, mut input, at, .. } = self;
        drop(input.drain(..at));
        (connection, transport, input)
    }

    pub(crate) fn server(&self) -> &ServerReady {
        self.connection.server()
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn status(&self) -> TransactionStatus {
        self.connection.status()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.connection.is_over()
    }

    /// Where messages are written.
    ///
    /// # Errors
    /// When the connection is closed.
    #[inline]
    pub(crate) fn pipeline(&mut self) -> Result<&mut Pipeline, Error> {
        if self.connection.is_over() {
            return Err(Error::new(Kind::Closed));
        }
        Ok(self.connection.pipeline())
    }

    /// Sends what waits and hands events to `on` until all turns are over, or `on` says stop. Returns the first error: the
    /// server's, or of `on`. Even then the turns are read to their end, so that the connection can be used.
    pub(crate) fn drive(
        &mut self,
        mut on: impl FnMut(Event<'_>) -> Result<Step, Error>,
    ) -> Result<Step, Error> {
        let mut failed: Option<Error> = None;
        loop {
            let stop = self.deal(&mut failed, &mut on)?;
            if self.connection.is_idle() {
                return failed.map_or(Ok(Step::Go), Err);
            }
            if stop && failed.is_none() {
                return Ok(Step::Stop);
            }
            if failed.is_some() && self.connection.pipeline().turn_is_open() {
                // The server skips all up to a Sync.
                self.connection.pipeline().sync();
            }
            // What was left after a stop may be all that comes.
            if !stop {
                self.exchange()?;
            }
        }
    }

    /// Hands out the events that are there. Whether `on` said stop. A COPY that `on` does not stop at is refused.
    fn deal(
        &mut self,
        failed: &mut Option<Error>,
        on: &mut impl FnMut(Event<'_>) -> Result<Step, Error>,
    ) -> Result<bool, Error> {
        let mut rest = self.input.get(self.at..).unwrap_or_default();
        let mut stop = false;
        let mut refuse = false;
        let outcome = loop {
            let event = match self.connection.next_event(&mut rest) {
                Ok(Some(event)) => event,
                Ok(None) => break Ok(()),
                Err(misbehaviour) => break Err(Some(misbehaviour)),
            };
            let step = match event {
                Event::Notice(notice) => {
                    if let Some(handler) = &mut self.on_notice {
                        handler(Notice::of(&notice));
                    }
                    continue;
                }
                Event::Notification(notification) => {
                    if self.notifications.len() >= NOTIFICATIONS_MAX {
                        self.notifications.pop_front();
                        self.notifications_dropped += 1;
                    }
                    self.notifications.push_back(Notification::of(&notification));
                    continue;
                }
                Event::ParameterStatus(_) => continue,
                Event::Fatal(error) => {
                    self.farewell = Some(Refusal::of(&error));
                    break Err(None);
                }
                Event::Error(error) => {
                    failed.get_or_insert_with(|| Error::new(Kind::Server(Refusal::of(&error))));
                    on(event)
                }
                Event::Ready { .. } => on(event),
                _ if failed.is_some() => Ok(Step::Go),
                event => on(event),
            };
            if step.as_ref().is_ok_and(|step| *step == Step::Stop) {
                stop = true;
                break Ok(());
            }
            if let Err(error) = step {
                failed.get_or_insert(error);
            }
            if matches!(event, Event::CopyIn(_)) {
                refuse = true;
                break Ok(());
            }
        };
        self.at = self.input.len() - rest.len();
        match outcome {
            Ok(()) if refuse => self.connection.refuse_copy_in(b"no data is copied in here")?,
            Ok(()) => {}
            Err(misbehaviour) => {
                return Err(
                    self.lost(misbehaviour.map(|source| move |fate| Kind::Misbehaved { source, fate }))
                );
            }
        }
        Ok(stop)
    }

    /// Sends what can be sent, and receives something.
    fn exchange(&mut self) -> Result<(), Error> {
        self.make_room();
        loop {
            let write = self.send_some()?;
            match self.transport.receive(&mut self.input, write, self.deadline) {
                // The server takes more again.
                Ok(None) => {}
                Ok(Some(0)) => return Err(self.lost(None::<fn(Option<Fate>) -> Kind>)),
                Ok(Some(_)) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::TimedOut && self.on_deadline.is_some() => {
                    self.deadline = self.on_deadline.take().map(|next| next());
                }
                Err(source) => return Err(self.failed(source)),
            }
        }
    }

    /// Sends everything; where the system takes no more, the server may be waiting for its answers to be read.
    pub(crate) fn send_while_reading(
        &mut self,
        on: &mut impl FnMut(Event<'_>) -> Result<Step, Error>,
    ) -> Result<(), Error> {
        let mut failed = None;
        while self.send_some()? {
            self.make_room();
            match self.transport.receive(&mut self.input, true, self.deadline) {
                Ok(None) => {}
                Ok(Some(0)) => return Err(self.lost(None::<fn(Option<Fate>) -> Kind>)),
                Ok(Some(_)) => drop(self.deal(&mut failed, on)?),
                Err(source) => return Err(self.failed(source)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Sends what the system takes now. Whether something is left.
    pub(crate) fn send_some(&mut self) -> Result<bool, Error> {
        while !self.connection.unsent().is_empty() {
            match self.transport.send(self.connection.unsent()) {
                Ok(0) => return Ok(true),
                Ok(count) => self.connection.pipeline().handle_sent(count),
                // What the server said before it went is read first.
                Err(error) if is_gone(&error) => return Ok(false),
                Err(source) => return Err(self.failed(source)),
            }
        }
        Ok(false)
    }

    /// Moves what is not consumed to the front of the buffer.
    fn make_room(&mut self) {
        let left = self.input.len() - self.at;
        if left == 0 {
            self.input.clear();
            if self.input.capacity() > KEPT_BYTES_MAX {
                self.input = Vec::new();
            }
        } else if self.at > 0 {
            self.input.copy_within(self.at.., 0);
            self.input.truncate(left);
        }
        self.at = 0;
    }

    fn failed(&mut self, source: io::Error) -> Error {
        if source.kind() == io::ErrorKind::TimedOut {
            // What comes later would be taken for the answer to something else.
            self.connection.handle_end();
            return Error::new(Kind::TimedOut);
        }
        self.lost(Some(move |fate| Kind::Io { source, fate }))
    }

    /// The connection is over: what its first turn is told.
    fn lost(&mut self, kind: Option<impl FnOnce(Option<Fate>) -> Kind>) -> Error {
        let fate = self.connection.handle_end().first().copied();
        let reason = self.farewell.take();
        Error::new(match kind {
            Some(kind) => kind(fate),
            None => Kind::Ended { reason, fate },
        })
    }

    /// Waits for a notification, until the deadline.
    pub(crate) fn listen(&mut self, deadline: Option<Instant>) -> Result<(), Error> {
        let mut failed = None;
        loop {
            self.deal(&mut failed, &mut |_| Ok(Step::Go))?;
            if !self.notifications.is_empty() {
                return Ok(());
            }
            self.make_room();
            match self.transport.receive(&mut self.input, false, deadline) {
                Ok(Some(0)) => return Err(self.lost(None::<fn(Option<Fate>) -> Kind>)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(()),
                Err(source) => return Err(self.failed(source)),
            }
        }
    }

    /// Ends the connection: nothing waits in it.
    pub(crate) fn terminate(&mut self) {
        if !self.connection.is_over() {
            self.connection.pipeline().terminate();
            let _ = self.send_some();
            self.connection.handle_end();
        }
    }

    /// The text of one value, by the simple protocol.
    pub(crate) fn one_value(&mut self, text: &str) -> Result<String, Error> {
        self.pipeline()?.query(text.as_bytes())?;
        let mut value = String::new();
        self.drive(|event| {
            if let Event::Rows { frames, .. } = event
                && let Some(body) = Frames::rows(frames).next()
            {
                let found = RowView::new(body).value(0)?.unwrap_or_default();
                value = String::from_utf8_lossy(found).into_owned();
            }
            Ok(Step::Go)
        })?;
        Ok(value)
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
