//! A session's connection: bytes go out, bytes come in, events come of them.

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use trunkline_codec::result::ResultSet;
use trunkline_codec::session::{
    Carrier, Happened, Session, TRUNKLINE_EVENT_COPY_IN, TRUNKLINE_EVENT_ERROR, TRUNKLINE_EVENT_FATAL,
    TRUNKLINE_EVENT_NOTICE, TRUNKLINE_EVENT_NOTIFICATION, TRUNKLINE_EVENT_READY,
};
use trunkline_codec::status::{
    Status, TRUNKLINE_CLOSED, TRUNKLINE_IO, TRUNKLINE_MISUSE, TRUNKLINE_PROTOCOL, TRUNKLINE_SERVER,
    TRUNKLINE_TIMEOUT,
};
use trunkline_driver_blocking::{Fate, Wire};

use crate::failure::Failure;

/// Notifications that wait to be asked for; the oldest are dropped beyond.
const NOTIFICATIONS_MAX: usize = 65_536;
/// Notices that wait to be asked for.
const NOTICES_MAX: usize = 256;

/// See the module.
pub(crate) struct Line {
    pub(crate) wire: Wire,
    input: Vec<u8>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) notifications: VecDeque<ResultSet>,
    pub(crate) notices: VecDeque<ResultSet>,
    /// The server's farewell.
    farewell: Option<ResultSet>,
}

impl Carrier for Line {
    fn farewell(&mut self, bytes: &[u8]) {
        // Nobody waits for it: the server also sees that the connection is closed.
        let _ = self.wire.send(bytes);
    }
}

/// Does something with a session and its connection.
pub(crate) fn with_line<R>(
    session: &mut Session,
    run: impl FnOnce(&mut Session, &mut Line) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let mut carrier = session.carrier.take().ok_or(Status(TRUNKLINE_MISUSE))?;
    let any: &mut dyn Any = &mut *carrier;
    let outcome = match any.downcast_mut::<Line>() {
        Some(line) => run(session, line),
        None => Err(Status(TRUNKLINE_MISUSE).into()),
    };
    session.carrier = Some(carrier);
    outcome
}

impl Line {
    pub(crate) fn new(wire: Wire) -> Self {
        Self {
            wire,
            input: Vec::new(),
            timeout: None,
            notifications: VecDeque::new(),
            notices: VecDeque::new(),
            farewell: None,
        }
    }

    /// Sends what the system takes now. Whether something is left.
    pub(crate) fn send(&mut self, session: &mut Session) -> Result<bool, Failure> {
        while !session.unsent().is_empty() {
            match self.wire.send(session.unsent()) {
                Ok(0) => return Ok(true),
                Ok(count) => session.sent(count),
                // What the server said before it went is read first.
                Err(error) if is_gone(&error) => return Ok(false),
                Err(error) => return Err(lost(session, None, &error.to_string())),
            }
        }
        self.wire.flush().map_err(|error| lost(session, None, &error.to_string()))
    }

    /// Receives what is there, without waiting. Whether anything was.
    pub(crate) fn receive_now(&mut self, session: &mut Session) -> Result<bool, Failure> {
        self.input.clear();
        match self.wire.receive_now(&mut self.input) {
            Ok(None) => Ok(false),
            Ok(Some(count)) => self.received(session, count).map(|()| true),
            Err(error) => Err(lost(session, self.farewell.take(), &error.to_string())),
        }
    }

    fn received(&mut self, session: &mut Session, count: usize) -> Result<(), Failure> {
        if count == 0 {
            return Err(lost(session, self.farewell.take(), "the server closed the connection"));
        }
        session.feed(&self.input).map_err(|status| self.broken(session, status))
    }

    /// The server broke the protocol.
    fn broken(&self, session: &Session, status: Status) -> Failure {
        Failure::message(status, &session.message)
    }

    /// Sends what can be sent, and waits for something to come or, where not all could be sent, to go on.
    pub(crate) fn exchange(
        &mut self,
        session: &mut Session,
        deadline: Option<Instant>,
    ) -> Result<(), Failure> {
        let left = self.send(session)?;
        self.input.clear();
        match self.wire.receive(&mut self.input, left, deadline) {
            Ok(None) => Ok(()),
            Ok(Some(count)) => self.received(session, count),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Err(Failure::message(Status(TRUNKLINE_TIMEOUT), "the time is up"))
            }
            Err(error) => Err(lost(session, self.farewell.take(), &error.to_string())),
        }
    }

    /// The next event that is there. What the server says unasked is kept aside.
    pub(crate) fn next(&mut self, session: &mut Session) -> Result<Option<Happened>, Failure> {
        loop {
            let next = session.next_event().map_err(|status| self.broken(session, status))?;
            let Some(happened) = next else { return Ok(None) };
            let (queue, max) = match happened.kind {
                TRUNKLINE_EVENT_NOTIFICATION => (&mut self.notifications, NOTIFICATIONS_MAX),
                TRUNKLINE_EVENT_NOTICE => (&mut self.notices, NOTICES_MAX),
                TRUNKLINE_EVENT_FATAL => {
                    self.farewell = happened.result;
                    return Err(lost(session, self.farewell.take(), "the server closed the connection"));
                }
                _ => return Ok(Some(happened)),
            };
            if queue.len() >= max {
                queue.pop_front();
            }
            queue.extend(happened.result);
        }
    }

    /// Waits for the next event; `None` when all that was asked is answered, so that nothing need come.
    pub(crate) fn wait(
        &mut self,
        session: &mut Session,
        deadline: Option<Instant>,
    ) -> Result<Option<Happened>, Failure> {
        loop {
            if let Some(happened) = self.next(session)? {
                return Ok(Some(happened));
            }
            if session.connection().is_idle() {
                return Ok(None);
            }
            if session.connection().is_over() {
                return Err(Status(TRUNKLINE_CLOSED).into());
            }
            self.exchange(session, deadline)?;
        }
    }

    /// Waits for the next event as a query does: when its time is up it is cancelled, and when that is of no use either, the
    /// connection is closed.
    pub(crate) fn wait_or_cancel(
        &mut self,
        session: &mut Session,
        clock: &mut Clock,
    ) -> Result<Option<Happened>, Failure> {
        loop {
            match self.wait(session, clock.deadline) {
                Err(failure) if failure.status == Status(TRUNKLINE_TIMEOUT) => {
                    if clock.cancelled {
                        // What comes later would be taken for the answer to something else.
                        session.end();
                        return Err(failure);
                    }
                    clock.cancelled = true;
                    // A request that fails leaves the second deadline to end it.
                    let _ = self.wire.cancel_token().cancel();
                    clock.deadline = self.timeout.map(|limit| Instant::now() + limit);
                }
                outcome => return outcome,
            }
        }
    }

    /// Reads a turn to its end, handing each event to `on`. The first error, which the rest of the turn is read after.
    pub(crate) fn finish(
        &mut self,
        session: &mut Session,
        mut on: impl FnMut(Happened) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut clock = self.clock();
        let mut failed: Option<Failure> = None;
        while let Some(happened) = self.wait_or_cancel(session, &mut clock)? {
            match happened.kind {
                TRUNKLINE_EVENT_READY => {}
                TRUNKLINE_EVENT_ERROR => {
                    failed.get_or_insert(Failure::of_event(happened));
                    if session.turn_is_open() {
                        session.sync()?;
                    }
                }
                TRUNKLINE_EVENT_COPY_IN => session.refuse_copy_in(b"no data is copied in here")?,
                _ if failed.is_some() => {}
                _ => {
                    if let Err(error) = on(happened) {
                        failed.get_or_insert(error);
                    }
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// When a query that begins now is to be over.
    pub(crate) fn clock(&self) -> Clock {
        Clock { deadline: self.timeout.map(|limit| Instant::now() + limit), cancelled: false }
    }
}

/// How long a query may go on.
pub(crate) struct Clock {
    deadline: Option<Instant>,
    cancelled: bool,
}

/// The connection has ended: what became of the first turn that waited is in the error's field 'F'.
fn lost(session: &mut Session, farewell: Option<ResultSet>, message: &str) -> Failure {
    // What was received before may say why.
    let mut error = farewell;
    while error.is_none()
        && let Ok(Some(happened)) = session.next_event()
    {
        if happened.kind == TRUNKLINE_EVENT_FATAL {
            error = happened.result;
        }
    }
    let status = if error.is_some() { TRUNKLINE_SERVER } else { TRUNKLINE_IO };
    let mut error = error.unwrap_or_else(|| ResultSet::of_message(message));
    if let Some(fate) = session.end().first() {
        error.set_field(
            b'F',
            match fate {
                Fate::NotRun => "not run",
                Fate::MayHaveRun => "may have run",
                Fate::Failed => "failed",
            },
        );
    }
    Failure { status: Status(status), error: Some(Box::new(error)), item: 0 }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Whether a status leaves the connection unusable.
pub(crate) fn ends(status: Status) -> bool {
    matches!(status.0, TRUNKLINE_IO | TRUNKLINE_PROTOCOL | TRUNKLINE_CLOSED)
}
