//! Many tasks' turns on one connection, without I/O: what was asked goes in, answers go to those who asked.
//!
//! ```text
//!   tasks --submit--> Inbox: pipeline, replies          (a lock of its own, held for a copy of some bytes)
//!                       |  parked: what waits for another's transaction
//!   Dispatcher --take---'
//!     connection: bytes to send, answers that are expected
//!     turns:      [ Reply | Reply | nobody | Reply ]    one for each turn that is not over, in the order of the answers
//!                   ^ gets what the server says now
//! ```
//!
//! Call order of [`Dispatcher`]: [`take`](Dispatcher::take) what was submitted; write [`unsent`](Dispatcher::unsent) and tell
//! [`handle_sent`](Dispatcher::handle_sent); give what was received to [`handle_input`](Dispatcher::handle_input), unless
//! [`is_full`](Dispatcher::is_full). After an error, and when the socket ends, [`end`](Dispatcher::end): every turn hears of
//! it.

mod inbox;
mod reply;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use trunkline_driver_blocking::parts::Unused;
use trunkline_driver_blocking::{Fate, Notice, Notification};
use trunkline_session::frontend::{Connection, Event, Refusal, ServerReady};
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::frontend::Target;

pub(crate) use inbox::{Inbox, Owner, Submitted};
pub(crate) use reply::{Answered, Cause, Reply, Stage, Want};

/// What the server said to nobody in particular.
#[derive(Debug, Clone)]
pub(crate) enum Unasked {
    Notice(Notice),
    Notification(Notification),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    connection: Connection,
    turns: VecDeque<Option<Arc<Reply>>>,
    unused: Unused,
    /// What is to be told to listeners; nothing is kept while there are none.
    pub(crate) unasked: Vec<Unasked>,
    pub(crate) has_listeners: bool,
    /// Whether the first turn's reader must take something before more is read.
    full: bool,
}

impl Dispatcher {
    pub(crate) fn new(connection: Connection, unused: Unused) -> Self {
        Self {
            connection,
            turns: VecDeque::new(),
            unused,
            unasked: Vec::new(),
            has_listeners: false,
            full: false,
        }
    }

    pub(crate) fn server(&self) -> &ServerReady {
        self.connection.server()
    }

    /// Takes over what was submitted.
    pub(crate) fn take(&mut self, inbox: &mut Inbox) {
        if inbox.has_new() {
            self.connection.append(&mut inbox.ready.pipeline);
            self.turns.extend(inbox.ready.replies.drain(..));
            // Behind all that was asked of them, by whom ever.
            if !inbox.has_parked() {
                self.close_unused();
            }
        }
        self.note(inbox);
    }

    /// Tells the inbox how much is under way, and lets in who waits for room.
    pub(crate) fn note(&self, inbox: &mut Inbox) {
        inbox.unsent_bytes = self.connection.unsent().len();
        inbox.turns_taken = self.turns.len();
        inbox.admit();
    }

    /// Closes statements that nobody has any more, in a turn of its own.
    fn close_unused(&mut self) {
        // In a failed transaction, and within an open turn, they wait.
        if self.connection.status() == TransactionStatus::Failed || self.connection.pipeline().turn_is_open()
        {
            return;
        }
        let Ok(mut unused) = self.unused.lock() else { return };
        if unused.is_empty() {
            return;
        }
        let names = std::mem::take(&mut *unused);
        drop(unused);
        let pipeline = self.connection.pipeline();
        for name in names {
            // The name was sent once, so it can be sent again.
            let _ = pipeline.close(Target::Statement, name.as_bytes());
        }
        pipeline.sync();
        self.turns.push_back(None);
    }

    /// Turns that are not over.
    pub(crate) fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Turns that were ever over.
    pub(crate) fn turns_over(&self) -> u64 {
        self.connection.turns_over()
    }

    /// Whether a transaction was open at the end of the last turn.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.connection.status() != TransactionStatus::Idle
    }

    /// Whether it is `reply` that the server answers now.
    pub(crate) fn answers(&self, reply: &Arc<Reply>) -> bool {
        matches!(self.turns.front(), Some(Some(first)) if Arc::ptr_eq(first, reply))
    }

    /// Bytes to be sent.
    pub(crate) fn unsent(&self) -> &[u8] {
        self.connection.unsent()
    }

    /// So many of them were sent.
    pub(crate) fn handle_sent(&mut self, bytes: usize) {
        self.connection.pipeline().handle_sent(bytes);
    }

    /// Whether what was received must wait, because a reader has enough for now.
    pub(crate) fn is_full(&mut self) -> bool {
        if self.full {
            self.full = matches!(self.turns.front(), Some(Some(reply)) if !reply.has_room());
        }
        self.full
    }

    /// Deals with what was received and not consumed yet, and says how much of it is consumed now.
    ///
    /// # Errors
    /// Why the connection is over.
    pub(crate) fn handle_input(&mut self, input: &[u8]) -> Result<usize, Cause> {
        let mut rest = input;
        while !self.is_full() {
            match self.connection.next_event(&mut rest) {
                Ok(Some(event)) => self.event(&event)?,
                Ok(None) => break,
                Err(misbehaviour) => return Err(Cause::Misbehaved(misbehaviour)),
            }
        }
        Ok(input.len() - rest.len())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Cause> {
        match event {
            Event::Ready { turns, .. } => {
                for _ in 0..*turns {
                    if let Some(reply) = self.turns.pop_front().flatten() {
                        reply.over();
                    }
                }
            }
            Event::Notice(notice) if self.has_listeners => {
                self.unasked.push(Unasked::Notice(Notice::of(notice)));
            }
            Event::Notification(notification) if self.has_listeners => {
                self.unasked.push(Unasked::Notification(Notification::of(notification)));
            }
            Event::Notice(_) | Event::Notification(_) | Event::ParameterStatus(_) => {}
            Event::Fatal(error) => return Err(Cause::Ended(Some(Refusal::of(error)))),
            event => self.answer(event),
        }
        Ok(())
    }

    fn answer(&mut self, event: &Event<'_>) {
        let reply = self.turns.front().and_then(Option::as_ref);
        if matches!(event, Event::CopyIn(_)) && !reply.is_some_and(|reply| reply.wants_copy()) {
            // The reason is a text that can be sent.
            let _ = self.connection.refuse_copy_in(b"no data is copied in here: use copy_in");
            return;
        }
        if let Some(reply) = reply {
            self.full = !reply.take(event);
        }
    }

    /// Says good-bye, after all that was asked.
    pub(crate) fn terminate(&mut self) {
        self.connection.pipeline().terminate();
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_over()
    }

    /// The connection has ended: tells everybody what became of what they asked.
    pub(crate) fn end(&mut self, inbox: &mut Inbox, cause: &Cause) {
        let mut fates = self.connection.handle_end().into_iter();
        for reply in self.turns.drain(..) {
            let fate = fates.next().unwrap_or(Fate::MayHaveRun);
            if let Some(reply) = reply {
                reply.lose(cause, fate);
            }
        }
        inbox.end(cause);
    }
}
