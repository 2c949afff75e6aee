//! A model of a direct connection: each client compares every message that it gets with the model's.
//!
//! Where a direct connection has several possible answers, the model follows the real one: a cancel request may come in
//! time or not, a server may be lost, a wait may be too long.

use std::collections::VecDeque;

use trunkline_relay::board::Shutdown;

use super::SHUTTING_DOWN;
use crate::frames::{Frame, Kind, field, show};
use crate::model_server::session::{Database, Session};

/// Events of the run that excuse an unexpected answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excuses {
    /// Servers were killed, or refuse connections.
    pub(crate) servers_die: bool,
    /// Time passes, so timeouts may end things.
    pub(crate) time_passes: bool,
    /// A reload may switch the tracking of statements off or on.
    pub(crate) untracked: bool,
    /// Transactions are refused.
    pub(crate) statement_mode: bool,
    /// There are limits on the number of clients.
    pub(crate) limited: bool,
    /// Reloads may remove the database or the look-up, and add them again.
    pub(crate) reloads: bool,
    /// The servers have moved.
    pub(crate) moved: bool,
    /// How the proxy was told to shut down, if it was.
    pub(crate) shutdown: Option<Shutdown>,
    /// The schema's version now.
    pub(crate) schema: u64,
}

#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) session: Session,
    database: Database,
    /// Messages that the client has sent and the model has not processed.
    queue: VecDeque<Vec<u8>>,
    /// Answers to the last step that have not come yet.
    expected: VecDeque<Frame>,
    /// The session before that step.
    before: Session,
    /// Cancel requests with the right key that have not ended a query yet.
    pub(crate) cancels: usize,
    /// Whether answers may have been lost, so that the sequence's numbers may jump.
    gap: bool,
    /// How many errors came from the proxy itself.
    pub(crate) excused: u64,
    /// The errors with which the client or its turns were refused.
    pub(crate) refusals: Vec<String>,
    /// Answers compared.
    pub(crate) compared: u64,
    /// Only the close of the connection may still come.
    pub(crate) ended: bool,
}

impl Direct {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            before: session.clone(),
            session,
            database: Database::default(),
            queue: VecDeque::new(),
            expected: VecDeque::new(),
            cancels: 0,
            gap: false,
            excused: 0,
            refusals: Vec::new(),
            compared: 0,
            ended: false,
        }
    }

    /// The client has sent a message.
    pub(crate) fn sent(&mut self, message: &[u8]) {
        self.queue.push_back(message.to_vec());
    }

    /// The first answer that should have come but has not. Answers that wait for a Sync or Flush do not count. For the
    /// end of a run, when nothing is on its way.
    pub(crate) fn missing(&self) -> Option<String> {
        let mut session = self.session.clone();
        let mut database = self.database.clone();
        let mut due: Vec<Frame> = self.expected.iter().cloned().collect();
        let mut queue = self.queue.clone();
        // A server sends an error at once too, but the proxy need not have sent a turn that asks for no answer yet.
        let pushed = |due: &[Frame]| due.iter().any(|frame| matches!(frame.bytes[0], b'Z' | b'G'));
        loop {
            while session.ready() {
                due.extend(session.run(&mut database));
            }
            if pushed(&due) {
                return due.first().map(|frame| show(&frame.bytes));
            }
            let message = queue.pop_front()?;
            session.take(&message);
            if message[0] == b'H' && session.copy.is_none() && !session.skipping && !due.is_empty() {
                return due.first().map(|frame| show(&frame.bytes));
            }
        }
    }

    /// A message has come.
    pub(crate) fn arrived(&mut self, message: &[u8], excuses: &Excuses) -> Result<(), String> {
        if self.ended {
            return Err(format!("{} after the end", show(message)));
        }
        self.compared += 1;
        if excuses.statement_mode {
            match message[0] {
                b'Z' if message[5] != b'I' => return Err("a transaction in statement mode".to_owned()),
                b'E' if field(message, b'V') == "FATAL" && field(message, b'C') == "0A000" => {
                    return self.transaction_refused();
                }
                _ => {}
            }
        }
        let worded = field(message, b'M').starts_with("model: ")
            || matches!(&*field(message, b'C'), "42P05" | "0A000");
        if message[0] == b'E' && !worded {
            return self.proxy_error(message, excuses);
        }
        let changed = message[0] == b'E' && field(message, b'C') == "0A000" && excuses.schema > 0;
        let lost =
            message[0] == b'E' && excuses.untracked && matches!(&*field(message, b'C'), "26000" | "42P05");
        if (changed || lost) && !self.expects(message) {
            self.unwind()?;
            self.fail_step("0A000");
            return Ok(());
        }
        while self.expected.is_empty() {
            self.next_step().ok_or_else(|| format!("{} though nothing is due", show(message)))?;
        }
        self.move_report_first(message);
        let Some(expected) = self.expected.pop_front() else { return Ok(()) };
        self.compare(&expected, message, excuses)
    }

    /// Parameters that a server reports at the same time may come in any order.
    fn move_report_first(&mut self, message: &[u8]) {
        let reports = self.expected.iter().take_while(|due| due.bytes[0] == b'S');
        if let Some(at) = reports.map(|due| &due.bytes).position(|due| due == message) {
            self.expected.swap(0, at);
        }
    }

    /// Notes an error with which the client was refused: its code and its first words.
    pub(crate) fn refused(&mut self, code: &str, text: &str) {
        let words: Vec<&str> = text.split(' ').take(4).collect();
        self.refusals.push(format!("{code} {}", words.join(" ")));
    }

    /// The client has begun a transaction, and is disconnected at the point where it would learn that.
    fn transaction_refused(&mut self) -> Result<(), String> {
        self.ended = true;
        self.refused("0A000", "transaction");
        while self.expected.is_empty() {
            self.next_step().ok_or("a transaction is refused that nobody began")?;
        }
        match self.expected.front().map(|due| &*due.bytes) {
            Some([b'Z', .., b'T' | b'E']) => Ok(()),
            due => Err(format!("a transaction is refused where {:?} was due", due.map(show))),
        }
    }

    /// Whether a turn is only partly answered.
    fn is_partly_answered(&self) -> bool {
        let idle = self.session.failing || self.session.skipping;
        !self.expected.is_empty()
            || self.session.status != b'I'
            || !self.session.todo.is_empty()
            || (self.session.is_in_turn() && !idle)
    }

    /// Whether this is the next expected answer.
    fn expects(&mut self, message: &[u8]) -> bool {
        while self.expected.is_empty() {
            if self.next_step().is_none() {
                return false;
            }
        }
        self.expected.front().is_some_and(|expected| {
            expected.bytes == message || field(&expected.bytes, b'C') == field(message, b'C')
        })
    }

    /// Runs one step. `None` if no message gives one.
    fn next_step(&mut self) -> Option<()> {
        self.fetch()?;
        self.before.clone_from(&self.session);
        self.expected.extend(self.session.run(&mut self.database));
        Some(())
    }

    /// Takes messages until there is a step.
    fn fetch(&mut self) -> Option<()> {
        while !self.session.ready() {
            let message = self.queue.pop_front()?;
            self.session.take(&message);
        }
        Some(())
    }

    /// An error came instead of the expected answer. Puts the session back before the step that the error answers.
    fn unwind(&mut self) -> Result<(), String> {
        if self.step_back() { Ok(()) } else { Err("an error though nothing was asked".to_owned()) }
    }

    /// The same. False if there is no step.
    fn step_back(&mut self) -> bool {
        if !self.expected.is_empty() {
            // The parameter values that the client has already received stay.
            let told = self.session.settings.reported_except(&self.expected);
            self.expected.clear();
            self.session.clone_from(&self.before);
            self.session.settings.set_reported(told);
            return true;
        }
        self.session.copy.is_some() || self.fetch().is_some()
    }

    /// An error has ended the current step. The reports of parameters that the error restores are expected next.
    fn fail_step(&mut self, code: &str) {
        let out = self.session.fail(&crate::model_server::session::failure(code, ""));
        self.expected.extend(out.into_iter().skip(1));
        self.before.clone_from(&self.session);
    }

    fn compare(&mut self, expected: &Frame, message: &[u8], excuses: &Excuses) -> Result<(), String> {
        let wrong = || Err(format!("{} where {} was due", show(message), show(&expected.bytes)));
        match expected.kind {
            Kind::Exact if expected.bytes == message => Ok(()),
            // In a failed transaction the proxy cannot prepare the statement, so this error may replace the statement's
            // own.
            Kind::Exact
                if message[0] == b'E' && expected.bytes[0] == b'E' && field(message, b'C') == "25P02" =>
            {
                if self.session.status == b'E' {
                    Ok(())
                } else {
                    wrong()
                }
            }
            Kind::Code if message[0] == b'E' && field(&expected.bytes, b'C') == field(message, b'C') => {
                Ok(())
            }
            Kind::Sequence(due) => {
                let text = String::from_utf8_lossy(message.get(11..).unwrap_or_default()).into_owned();
                let Some(number) = text.strip_prefix("seq ").and_then(|number| number.parse::<u64>().ok())
                else {
                    return wrong();
                };
                if number < due || (number > due && !self.gap) {
                    return wrong();
                }
                self.database.sequences.values_mut().for_each(|last| *last = number);
                Ok(())
            }
            Kind::Schema if message[0] == expected.bytes[0] => {
                let text = String::from_utf8_lossy(message);
                let fits = (0..=excuses.schema).any(|version| text.contains(&format!("v{version}")));
                if fits { Ok(()) } else { wrong() }
            }
            _ => wrong(),
        }
    }

    /// An error that no direct connection would have sent.
    fn proxy_error(&mut self, message: &[u8], excuses: &Excuses) -> Result<(), String> {
        let (code, text) = (field(message, b'C'), field(message, b'M'));
        let fatal = field(message, b'V') == "FATAL";
        let unexcused = || Err(format!("unexcused {}", show(message)));
        self.excused += 1;
        self.gap = true;
        self.refused(&code, &text);
        if fatal {
            self.ended = true;
            if text == SHUTTING_DOWN {
                return match excuses.shutdown {
                    Some(Shutdown::Now) => Ok(()),
                    Some(Shutdown::WaitForServers) if !self.is_partly_answered() => Ok(()),
                    _ => unexcused(),
                };
            }
            let server = matches!(&*code, "57P01" | "08006" | "57P03" | "53300");
            // The cancelled turn waited for a server, and would have begun a transaction.
            let begins = |message: &Vec<u8>| message.windows(5).any(|word| word == b"BEGIN");
            if text == "canceling statement due to user request" && self.cancels > 0 {
                return if self.queue.iter().any(begins) { Ok(()) } else { unexcused() };
            }
            let late = matches!(&*code, "57P05" | "25P03" | "57014" | "53300" | "08006");
            return if (server && excuses.servers_die) || (late && excuses.time_passes) {
                Ok(())
            } else {
                unexcused()
            };
        }
        let lost = excuses.servers_die && matches!(&*code, "57P01" | "08006" | "53300" | "57P03");
        if !self.step_back() {
            // The server is lost in a turn without Sync whose messages are all answered: the next message fails.
            self.session.failing = lost && self.session.is_in_turn() && !self.session.failing;
            return if self.session.failing { Ok(()) } else { unexcused() };
        }
        match &*code {
            "57014" if text == "canceling statement due to user request" => {
                let Some(left) = self.cancels.checked_sub(1) else { return unexcused() };
                self.cancels = left;
                // The proxy itself cancels a turn that waits for a server.
                if field(message, b'R').is_empty() {
                    self.session.refuse();
                } else {
                    self.fail_step("57014");
                }
                Ok(())
            }
            "53300" if excuses.time_passes && text.contains("query_wait_timeout") => {
                self.session.refuse();
                Ok(())
            }
            "08006" if excuses.time_passes && text.contains("server_connect_timeout") => {
                self.session.refuse();
                Ok(())
            }
            _ if lost => {
                self.session.lose();
                Ok(())
            }
            _ => unexcused(),
        }
    }

    /// Whether a COPY will wait for the client's data when all sent messages are processed.
    pub(crate) fn in_copy(&self) -> bool {
        let (mut session, mut database) = (self.session.clone(), self.database.clone());
        for message in &self.queue {
            while session.ready() {
                session.run(&mut database);
            }
            session.take(message);
        }
        while session.ready() {
            session.run(&mut database);
        }
        session.copy.is_some()
    }

    /// For the trace.
    pub(crate) fn state(&self) -> String {
        let queue: Vec<String> = self.queue.iter().map(|message| show(message)).collect();
        format!("status {}, copy {:?}, queue {queue:?}", char::from(self.session.status), self.session.copy)
    }
}
