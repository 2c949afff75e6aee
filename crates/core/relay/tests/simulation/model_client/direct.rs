//! What a connection of its own would answer: each client compares every message with it.
//!
//! The session follows what really came where a connection of its own could have answered otherwise too: a cancel that
//! was in time or not, a server that was lost, a wait that was too long.

use std::collections::VecDeque;

use trunkline_relay::board::Shutdown;

use super::SHUTTING_DOWN;
use crate::frames::{Frame, Kind, field, show};
use crate::model_server::session::{Database, Session};

/// What may have happened to a client that it cannot know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excuses {
    /// Servers were killed, or refuse connections.
    pub(crate) servers_die: bool,
    /// Time passes: timeouts strike.
    pub(crate) time_passes: bool,
    /// Statements are tracked no longer, or again, after a reload.
    pub(crate) untracked: bool,
    /// Transactions are refused.
    pub(crate) statement_mode: bool,
    /// Clients are counted against limits.
    pub(crate) limited: bool,
    /// Databases and look-ups go and come.
    pub(crate) reloads: bool,
    /// The servers have moved.
    pub(crate) moved: bool,
    /// The proxy comes to its end.
    pub(crate) shutdown: Option<Shutdown>,
    /// The schema's version now.
    pub(crate) schema: u64,
}

#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) session: Session,
    database: Database,
    /// Messages sent and not dealt with.
    queue: VecDeque<Vec<u8>>,
    /// Answers to the step before, still to come.
    expected: VecDeque<Frame>,
    /// The session before that step.
    before: Session,
    /// Cancels asked for with the right key, less those that were seen to strike.
    pub(crate) cancels: usize,
    /// Answers may have been lost: numbers may jump.
    gap: bool,
    /// Errors of the proxy's own seen.
    pub(crate) excused: u64,
    /// Why it was turned away, or its turn was.
    pub(crate) refusals: Vec<String>,
    /// Answers compared.
    pub(crate) compared: u64,
    /// Nothing comes after this but the close.
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

    /// Answers that are due, once all messages have been dealt with; those that a Sync or Flush still has to push out
    /// are not. For the end of a run, when nothing is on its way.
    pub(crate) fn missing(&self) -> Option<String> {
        let mut session = self.session.clone();
        let mut database = self.database.clone();
        let mut due: Vec<Frame> = self.expected.iter().cloned().collect();
        let mut queue = self.queue.clone();
        // An error is pushed out too, but nobody need send a turn on that asks for no answer yet.
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
            return self.foreign(message, excuses);
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
        self.put_first(message);
        let Some(expected) = self.expected.pop_front() else { return Ok(()) };
        self.compare(&expected, message, excuses)
    }

    /// What a server reports of parameters at one time comes in any order.
    fn put_first(&mut self, message: &[u8]) {
        let reports = self.expected.iter().take_while(|due| due.bytes[0] == b'S');
        if let Some(at) = reports.map(|due| &due.bytes).position(|due| due == message) {
            self.expected.swap(0, at);
        }
    }

    /// It was refused something, by the beginning of the text.
    pub(crate) fn refused(&mut self, code: &str, text: &str) {
        let words: Vec<&str> = text.split(' ').take(4).collect();
        self.refusals.push(format!("{code} {}", words.join(" ")));
    }

    /// The client has begun a transaction, and is sent away where it would be told that it did.
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

    /// Whether some of a turn was answered and some was not.
    fn is_amid_turn(&self) -> bool {
        let idle = self.session.failing || self.session.skipping;
        !self.expected.is_empty()
            || self.session.status != b'I'
            || !self.session.todo.is_empty()
            || (self.session.is_in_turn() && !idle)
    }

    /// Whether the answer that comes next is this one.
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

    /// Runs one step; `None` when nothing was sent that could be run.
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

    /// An error came instead of what is expected: the session stands before the step it answers.
    fn unwind(&mut self) -> Result<(), String> {
        if self.step_back() { Ok(()) } else { Err("an error though nothing was asked".to_owned()) }
    }

    /// The same; false when there is no step.
    fn step_back(&mut self) -> bool {
        if !self.expected.is_empty() {
            // What the client has read of parameters it knows.
            let told = self.session.settings.told_but(&self.expected);
            self.expected.clear();
            self.session.clone_from(&self.before);
            self.session.settings.hear(told);
            return true;
        }
        self.session.copy.is_some() || self.fetch().is_some()
    }

    /// The error has come that ends the step under way; what the server says of parameters that it brings back is due.
    fn fail_step(&mut self, code: &str) {
        let out = self.session.fail(&crate::model_server::session::failure(code, ""));
        self.expected.extend(out.into_iter().skip(1));
        self.before.clone_from(&self.session);
    }

    fn compare(&mut self, expected: &Frame, message: &[u8], excuses: &Excuses) -> Result<(), String> {
        let wrong = || Err(format!("{} where {} was due", show(message), show(&expected.bytes)));
        match expected.kind {
            Kind::Exact if expected.bytes == message => Ok(()),
            // In a failed transaction, whatever the statement's own trouble: it had to be prepared first.
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
    fn foreign(&mut self, message: &[u8], excuses: &Excuses) -> Result<(), String> {
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
                    Some(Shutdown::WaitForServers) if !self.is_amid_turn() => Ok(()),
                    _ => unexcused(),
                };
            }
            let server = matches!(&*code, "57P01" | "08006" | "57P03" | "53300");
            // It waited, and was to begin a transaction.
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
            // The server is lost within a turn of which all is answered: what is asked next fails.
            self.session.failing = lost && self.session.is_in_turn() && !self.session.failing;
            return if self.session.failing { Ok(()) } else { unexcused() };
        }
        match &*code {
            "57014" if text == "canceling statement due to user request" => {
                let Some(left) = self.cancels.checked_sub(1) else { return unexcused() };
                self.cancels = left;
                // The proxy cancels what waits for a server itself.
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

    /// Whether a COPY waits for the client, once everything sent is dealt with.
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
