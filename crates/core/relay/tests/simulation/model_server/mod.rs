//! A model of a PostgreSQL backend, at the level of the protocol.
//!
//! It handles one message at a time. Answers stay in its buffer until a Sync, a Flush, an error or 8 KiB flush them. It
//! does not read while its socket takes no bytes. Its rows contain the token of the query and the session's settings.

mod atom;
pub(crate) mod session;
pub(crate) mod settings;
mod sql;

use crate::frames::{self, Frame, frame};
use crate::pipe::Pipe;
use session::{Database, Session, failure};
use settings::{KNOWN, Settings};

/// The password of a user.
pub(crate) fn password_of(user: &str) -> String {
    format!("secret of {user}")
}

/// PostgreSQL's send buffer (pqcomm.c).
const BUFFER_BYTES: usize = 8192;

/// What a backend is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It waits for its socket.
    Waiting,
    /// It has done something.
    Worked,
    /// A slow query runs.
    Slow,
}

#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) process_id: i32,
    pub(crate) secret: [u8; 4],
    /// The port to which the proxy has connected.
    pub(crate) port: u16,
    pub(crate) session: Option<Session>,
    reports_at_once: bool,
    input: Vec<u8>,
    /// Answers that are not flushed yet.
    buffer: Vec<u8>,
    /// Flushed answers that the socket has not taken yet.
    pushed: Vec<u8>,
    slow_done: bool,
    pub(crate) closed: bool,
    /// What it read and answered in its last step, for the trace.
    pub(crate) said: String,
}

/// What a delivered cancel did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// Nothing was running.
    Nothing,
    /// A slow query with this token was ended.
    Query(String),
    /// A COPY was ended.
    Copy,
}

impl Backend {
    pub(crate) fn new(process_id: i32, secret: [u8; 4], port: u16, reports_at_once: bool) -> Self {
        Self {
            process_id,
            secret,
            port,
            session: None,
            reports_at_once,
            input: Vec::new(),
            buffer: Vec::new(),
            pushed: Vec::new(),
            slow_done: false,
            closed: false,
            said: String::new(),
        }
    }

    /// Whether it has no input, no unsent answers and no step to run.
    pub(crate) fn is_quiet(&self) -> bool {
        self.input.is_empty()
            && self.buffer.is_empty()
            && self.pushed.is_empty()
            && self.session.as_ref().is_some_and(|session| !session.ready())
    }

    /// Whether it will send nothing more if only the messages `coming` reach it. Outside a COPY it ignores the messages
    /// of a COPY (as PostgreSQL does after a failed COPY), and a Flush with nothing to flush.
    pub(crate) fn will_send_nothing_more(&self, coming: &[u8]) -> bool {
        let mut rest = [&self.input, coming].concat();
        while let Some(message) = frames::take(&mut rest) {
            if !matches!(message[0], b'd' | b'c' | b'f' | b'H') {
                return false;
            }
        }
        let ready = self.session.as_ref().is_none_or(Session::ready);
        rest.is_empty() && self.buffer.is_empty() && self.pushed.is_empty() && !ready
    }

    /// Lets the slow query finish.
    pub(crate) fn finish_slow(&mut self) {
        self.slow_done = true;
    }

    /// Does one thing. The proxy reads from `up`, and has written to `down`.
    pub(crate) fn work(&mut self, up: &mut Pipe, down: &mut Pipe, database: &mut Database) -> Activity {
        if self.closed {
            return Activity::Waiting;
        }
        if !self.pushed.is_empty() {
            let sent = up.push(&self.pushed);
            self.pushed.drain(..sent);
            return if sent > 0 { Activity::Worked } else { Activity::Waiting };
        }
        if self.session.as_ref().is_some_and(Session::ready) {
            return self.step(database);
        }
        if let Some(first) = self.next_message() {
            self.message(&first);
            return Activity::Worked;
        }
        let read = down.pull(usize::MAX);
        if read.is_empty() {
            if down.closed {
                self.closed = true;
                up.closed = true;
                return Activity::Worked;
            }
            return Activity::Waiting;
        }
        self.input.extend_from_slice(&read);
        Activity::Worked
    }

    fn step(&mut self, database: &mut Database) -> Activity {
        let Some(session) = self.session.as_mut() else { return Activity::Waiting };
        if session.next_is_slow() && !self.slow_done {
            return Activity::Slow;
        }
        self.slow_done = false;
        let out = session.run(database);
        self.answer(&out);
        Activity::Worked
    }

    fn next_message(&mut self) -> Option<Vec<u8>> {
        if self.session.is_some() {
            return frames::take(&mut self.input);
        }
        let length = u32::from_be_bytes(self.input.get(..4)?.try_into().ok()?) as usize;
        (self.input.len() >= length).then(|| self.input.drain(..length).collect())
    }

    fn message(&mut self, message: &[u8]) {
        self.said = format!("reads {}", frames::show(message));
        let Some(session) = self.session.as_mut() else { return self.start_up(&message[8..]) };
        session.take(message);
        if session.over {
            self.closed = true;
        } else if message[0] == b'H' && session.copy.is_none() {
            self.push();
        }
    }

    fn start_up(&mut self, parameters: &[u8]) {
        let mut words = parameters.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let mut own = Vec::new();
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            if !matches!(&*name, "" | "user" | "database") {
                own.push((name.into_owned(), value.into_owned()));
            }
        }
        let settings = Settings::new(&own).expect("the proxy's own start-up parameters are good");
        let mut out = vec![frame(b'R', &[0, 0, 0, 0])];
        let reported = KNOWN.iter().enumerate().filter(|(_, (.., reported))| *reported);
        out.extend(reported.map(|(at, (name, ..))| frames::parameter_status(name, &settings.values[at])));
        out.push(frame(b'K', &[self.process_id.to_be_bytes(), self.secret].concat()));
        out.push(frame(b'Z', b"I"));
        self.session = Some(Session::new(settings, self.reports_at_once));
        self.answer(&out);
    }

    fn answer(&mut self, out: &[Frame]) {
        for frame in out {
            self.said += &format!(
                "{}{}",
                if self.said.is_empty() { "says " } else { ", " },
                frames::show(&frame.bytes)
            );
            self.buffer.extend_from_slice(&frame.bytes);
        }
        let urgent = out.iter().any(|frame| matches!(frame.bytes[0], b'Z' | b'E' | b'G'));
        if urgent || self.buffer.len() > BUFFER_BYTES {
            self.push();
        }
    }

    fn push(&mut self) {
        self.pushed.append(&mut self.buffer);
    }

    /// The signal of a cancel request has come.
    pub(crate) fn cancel(&mut self) -> Cancelled {
        let Some(session) = self.session.as_mut() else { return Cancelled::Nothing };
        let what = match (session.slow_token(), session.copy) {
            (Some(token), _) => Cancelled::Query(token),
            (None, Some(_)) => Cancelled::Copy,
            (None, None) => return Cancelled::Nothing,
        };
        self.slow_done = false;
        let mut why = failure("57014", "");
        why.1 = "canceling statement due to user request".to_owned();
        let out = session.fail(&why);
        self.answer(&out);
        what
    }

    /// Adds the error that a backend sends when an administrator's pg_terminate_backend ends it.
    pub(crate) fn add_termination_error(&mut self) {
        self.push();
        let why = "terminating connection due to administrator command";
        self.pushed.extend(frames::report(b'E', "FATAL", "57P01", why, "ProcessInterrupts").bytes);
    }

    /// Takes the answers that the socket has not taken. The rest of them is lost.
    pub(crate) fn drain(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pushed)
    }
}
