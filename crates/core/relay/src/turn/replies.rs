//! The answers that a server connection still owes, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use super::expect::{Expect, Fate, Message, Undo};
use super::places::{Places, visit};
use super::reply::{Place, Reply};
use crate::carried::prepared::{Statement, StatementId};

/// A COPY FROM STDIN has begun. This says what the client had already sent for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyIn {
    /// Whether the client has not sent CopyDone or CopyFail yet.
    pub end_to_come: bool,
    /// How many Syncs the client had sent. The server will not answer them, unless the COPY fails before the server
    /// reads them.
    pub ignores_syncs: usize,
}

/// The queue of the answers that a server connection owes. The server answers in order, so the head says what comes next.
///
/// A client may send any number of messages before the first one is answered. So no method looks through the whole queue,
/// except methods that remove what they look at, and [`Replies::disown`], which runs once for each turn.
#[derive(Debug, Default)]
pub struct Replies {
    queue: VecDeque<Reply>,
    /// The place that the next answer will get.
    next: Place,
    owed: Owed,
    /// A Flush was sent after the messages of all answers before this place.
    flushed: Place,
    /// The place of the last answer that ends a turn. It may be answered already.
    last_end: Option<Place>,
    /// The place of the last answer to a message that changes the unnamed statement, except queries of our own.
    last_unnamed: Option<Place>,
    /// The last message whose error would make the server skip messages up to a Sync. `None` if a Sync was sent after it.
    last_unsynced: Option<Place>,
    places: Places,
}

/// How many answers of each kind are owed.
#[derive(Debug, Default)]
struct Owed {
    turns: usize,
    executes: usize,
    queries: usize,
    /// Those of the queries that a client has sent.
    client_queries: usize,
    descriptions: usize,
}

impl Owed {
    #[inline]
    fn count(&mut self, reply: &Reply, by: impl Fn(&mut usize)) {
        match (&reply.expect.message, reply.expect.fate) {
            (Message::Execute, _) => by(&mut self.executes),
            (Message::Sync | Message::FunctionCall, _) => by(&mut self.turns),
            (Message::Query, _) => {
                by(&mut self.turns);
                by(&mut self.queries);
                if reply.expect.fate == Fate::Forward {
                    by(&mut self.client_queries);
                }
            }
            (Message::Describe(_), Fate::Discard) => by(&mut self.descriptions),
            _ => {}
        }
    }
}

/// An empty queue of more than this capacity is freed, so that an idle connection does not keep much memory.
const KEPT_CAPACITY: usize = 32;

impl Replies {
    /// Adds an owed answer, and returns its place.
    #[inline]
    pub(super) fn push(&mut self, expect: Expect) -> Place {
        let reply = Reply { expect, place: self.next };
        self.next += 1;
        self.owed.count(&reply, |count| *count += 1);
        if reply.expect.ends_turn() {
            self.last_end = Some(reply.place);
        }
        match reply.expect.message {
            Message::Sync => self.last_unsynced = None,
            Message::Query | Message::FunctionCall => {}
            _ => self.last_unsynced = Some(reply.place),
        }
        let is_query_of_ours = reply.expect.fate == Fate::Discard && reply.expect.ends_turn();
        if reply.expect.sets_unnamed() && !is_query_of_ours {
            self.last_unnamed = Some(reply.place);
        }
        let place = reply.place;
        self.queue.push_back(reply);
        place
    }

    /// The answer that comes next.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<&Reply> {
        self.queue.front()
    }

    /// Removes the head, which was just answered.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Reply> {
        let reply = self.queue.pop_front()?;
        self.owed.count(&reply, |count| *count -= 1);
        self.places.head_removed(&reply);
        if self.queue.is_empty() {
            self.emptied();
        }
        Some(reply)
    }

    #[inline]
    fn emptied(&mut self) {
        (self.last_end, self.last_unnamed, self.last_unsynced) = (None, None, None);
        self.places.shrink(KEPT_CAPACITY);
        if self.queue.capacity() > KEPT_CAPACITY {
            self.queue = VecDeque::new();
        }
    }

    /// Whether we still wait for result columns that we have asked for ourselves.
    #[must_use]
    pub fn awaits_shape(&self) -> bool {
        self.owed.descriptions > 0
    }

    /// Whether nothing is owed.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many answers are owed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether an unanswered message of an earlier turn changes what the client's `name` means, or whether the server
    /// has the statement. An error in that turn would undo the change. Changes in the present turn do not count,
    /// because an error there makes the server skip the next message too.
    #[must_use]
    pub fn is_undecided(&mut self, name: &[u8], statement: Option<StatementId>) -> bool {
        let Some(end) = self.last_end() else { return false };
        // A query of the client's may be DEALLOCATE ALL.
        if self.owed.client_queries > 0 {
            return true;
        }
        self.places.index_new(&self.queue, self.next);
        let touched = [self.places.of_name(name), statement.and_then(|id| self.places.of_statement(id))];
        touched.into_iter().flatten().any(|place| place < end)
    }

    /// The same for the unnamed statement.
    #[must_use]
    pub fn is_unnamed_undecided(&self) -> bool {
        let first = self.queue.front().map_or(self.next, |reply| reply.place);
        let last = self.last_unnamed.filter(|last| *last >= first);
        last.zip(self.last_end()).is_some_and(|(last, end)| last <= end)
    }

    /// The place where the last complete turn ends. Answers before it belong to an earlier turn than the next message.
    fn last_end(&self) -> Option<Place> {
        let first = self.queue.front()?.place;
        self.last_end.filter(|end| *end >= first)
    }

    fn at(&mut self, place: Place) -> Option<&mut Reply> {
        let at = self.queue.binary_search_by_key(&place, |reply| reply.place).ok()?;
        self.queue.get_mut(at)
    }

    /// After an error was undone: the first remaining message that changes the unnamed statement now finds another one
    /// before it. Corrects its `Undo` for the server (an id), and the same for the client, whose messages are before
    /// `end`. Returns for which of the two there was such a message.
    pub fn amend_unnamed(
        &mut self,
        server: Option<StatementId>,
        client: Option<&Arc<Statement>>,
        end: Option<Place>,
    ) -> (bool, bool) {
        self.places.index_new(&self.queue, self.next);
        let (first, first_of_client) = self.places.of_unnamed();
        let first = first.and_then(|place| self.at(place)?.expect.unnamed_on_server());
        let for_server = first.map(|before| *before = server).is_some();
        let first_of_client = first_of_client.filter(|place| end.is_none_or(|end| *place <= end));
        let first = first_of_client.and_then(|place| self.at(place)?.expect.unnamed_of_client());
        let for_client = first.map(|before| *before = client.cloned()).is_some();
        (for_server, for_client)
    }

    /// Whether the last message ends a turn.
    #[must_use]
    pub fn ends_with_turn(&self) -> bool {
        self.queue.back().is_some_and(|reply| reply.expect.ends_turn())
    }

    /// Whether a Sync follows every message that may fail. Then no error can make the server skip the next message.
    #[must_use]
    pub fn no_error_can_skip(&self) -> bool {
        let first = self.queue.front().map_or(self.next, |reply| reply.place);
        self.last_unsynced.is_none_or(|last| last < first)
    }

    /// How many ends of turns are owed, of clients' turns and of our own queries.
    #[inline]
    #[must_use]
    pub fn turns(&self) -> usize {
        self.owed.turns
    }

    /// Whether an unanswered message may run a command, and so may begin a COPY.
    #[must_use]
    pub fn may_run(&self) -> bool {
        self.owed.executes > 0 || self.owed.queries > 0
    }

    /// Whether an unanswered message of a client may run a command.
    #[must_use]
    pub fn client_may_run(&self) -> bool {
        self.owed.executes > 0 || self.owed.client_queries > 0
    }

    /// Whether an Execute is unanswered.
    #[must_use]
    pub fn may_execute(&self) -> bool {
        self.owed.executes > 0
    }

    /// CopyInResponse has come for the head. Removes the Syncs that the client had sent before the end of the COPY,
    /// because the server ignores them (CopyGetData in PostgreSQL).
    pub(super) fn copy_in_began(&mut self) -> CopyIn {
        let mut copy = CopyIn { end_to_come: true, ignores_syncs: 0 };
        let Some(head) = self.queue.pop_front() else { return copy };
        let mut kept = Vec::new();
        while copy.end_to_come
            && let Some(reply) = self.queue.front()
            && (matches!(reply.expect.message, Message::Sync) || reply.expect.fate == Fate::AnswerLocally)
            && let Some(reply) = self.queue.pop_front()
        {
            visit();
            match reply.expect.message {
                Message::CopyEnd => copy.end_to_come = false,
                Message::Sync => {
                    copy.ignores_syncs += 1;
                    self.owed.count(&reply, |count| *count -= 1);
                    if self.last_end == Some(reply.place) {
                        self.last_end = head.expect.ends_turn().then_some(head.place);
                    }
                }
                _ => kept.push(reply),
            }
        }
        kept.into_iter().rev().for_each(|reply| self.queue.push_front(reply));
        self.queue.push_front(head);
        copy
    }

    /// An error has answered the head, and the server skips the messages up to the next Sync. Removes their answers and
    /// calls `undo` for each, from the last one to the head, because changes must be undone in reverse order. Returns
    /// false if no Sync was sent yet: then the server also skips the next messages.
    pub(super) fn fail(&mut self, mut undo: impl FnMut(Expect, /* failed itself: */ bool)) -> bool {
        let mut failed = Vec::new();
        let synced = loop {
            visit();
            match self.head() {
                Some(reply) if matches!(reply.expect.message, Message::Sync) => break true,
                Some(_) => failed.extend(self.pop()),
                None => break false,
            }
        };
        while let Some(reply) = failed.pop() {
            undo(reply.expect, failed.is_empty());
        }
        synced
    }

    /// How many complete turns of clients are not answered yet. Queries of our own do not count.
    #[must_use]
    pub fn turns_of_client(&self) -> usize {
        self.owed.turns - (self.owed.queries - self.owed.client_queries)
    }

    /// Whether the server may hold answers back, because neither the end of a turn nor a Flush follows their messages. The
    /// caller must then send a Flush; this notes it as sent.
    pub fn take_unflushed(&mut self) -> bool {
        let unflushed = !self.is_empty() && !self.ends_with_turn() && self.flushed != self.next;
        self.flushed = self.next;
        unflushed
    }

    /// All owed answers, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Expect> {
        self.queue.iter().map(|reply| &reply.expect)
    }

    /// The owed answers to messages that give a client a name or the server a statement, in order.
    pub fn creating(&mut self) -> impl Iterator<Item = &Expect> {
        self.places.index_new(&self.queue, self.next);
        let Self { queue, places, .. } = &*self;
        places.creating().filter_map(|place| {
            let at = queue.binary_search_by_key(&place, |reply| reply.place).ok()?;
            Some(&queue.get(at)?.expect)
        })
    }

    /// The end of the messages that one error answers, as an index in the queue. If the first message is of the extended
    /// protocol, the server would skip everything up to a Sync, also simple queries.
    fn end_of_failed_turn(&self) -> Option<usize> {
        // A CopyDone or CopyFail at the beginning is of a COPY that is lost too. It is not part of the turn after it.
        let first = self.queue.iter().position(|reply| !matches!(reply.expect.message, Message::CopyEnd))?;
        match self.queue.get(first) {
            Some(reply) if reply.expect.ends_turn() => Some(first),
            _ => {
                let is_sync = |reply: &Reply| matches!(reply.expect.message, Message::Sync);
                self.queue.iter().inspect(|_| visit()).position(is_sync)
            }
        }
    }

    /// Whether the end of the turn at the head was sent.
    #[must_use]
    pub fn has_end(&self) -> bool {
        self.end_of_failed_turn().is_some()
    }

    /// The connection is lost. Moves the answers up to the next end of a turn to `lost`, in order, and returns the
    /// place of that end, so that the caller can tell the turn's owner. If no end of a turn is owed, moves all answers
    /// and returns `None`.
    pub(super) fn lose_turn(&mut self, lost: &mut Vec<Reply>) -> Option<Place> {
        let end = self.end_of_failed_turn();
        let taken = end.map_or(self.queue.len(), |end| end + 1);
        let place = end.and_then(|end| self.queue.get(end)).map(|reply| reply.place);
        lost.extend((0..taken).map_while(|_| self.pop()));
        place
    }

    /// After an error was undone: if the next message about the statement is a Close that was already sent, corrects
    /// its `Undo`. The Close finds `present`, or nothing. Returns false if there is no such Close.
    pub fn amend_close(&mut self, statement: StatementId, present: Option<&Arc<Statement>>) -> bool {
        self.places.index_new(&self.queue, self.next);
        let first = self.places.of_statement(statement);
        let Some(reply) = first.and_then(|place| self.at(place)) else { return false };
        let Undo::Closed(closed) = &mut reply.expect.undo else { return false };
        if let Some(present) = present {
            *closed = Arc::clone(present);
        } else {
            reply.expect.undo = Undo::Nothing;
            self.places.remove_first_of_key(statement.get());
        }
        true
    }

    /// The client of these answers has gone, so nobody gets them.
    pub(super) fn disown(&mut self, places: std::ops::Range<Place>) {
        let first = self.queue.partition_point(|reply| reply.place < places.start);
        for reply in self.queue.range_mut(first..).take_while(|reply| reply.place < places.end) {
            visit();
            // Discarded answers count differently.
            self.owed.count(reply, |count| *count -= 1);
            reply.expect.disown();
            self.owed.count(reply, |count| *count += 1);
        }
    }

    /// The owners of some answers have changed. All are indexed again at the next question.
    pub(super) fn forget_names(&mut self) {
        self.last_unnamed = None;
        self.places.clear();
    }

    /// The head, which ends its turn, no longer goes to the client.
    pub(super) fn disown_head(&mut self) {
        if let Some(head) = self.queue.front_mut() {
            debug_assert!(!head.expect.sets_unnamed(), "a turn that was played again ends with Sync");
            head.expect.disown();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Subject;
    use super::*;

    const BIND: fn(u64) -> Message = |id| Message::Bind(Subject::numbered(StatementId::new(id)));

    fn push(replies: &mut Replies, message: Message) {
        let expect = match message {
            Message::CopyEnd => Expect::answer_locally(message, Undo::Nothing),
            _ => Expect::forward(message, Undo::Nothing),
        };
        replies.push(expect);
    }

    fn queue(messages: Vec<Message>) -> Replies {
        let mut replies = Replies::default();
        messages.into_iter().for_each(|message| push(&mut replies, message));
        replies
    }

    fn names(replies: &Replies) -> String {
        let name = |reply: &Reply| format!("{:?}", reply.expect.message).chars().next().unwrap_or('?');
        replies.queue.iter().map(name).collect()
    }

    #[test]
    fn an_error_takes_all_up_to_the_sync() {
        let mut replies = queue(vec![BIND(1), Message::Execute, Message::Sync, BIND(2), Message::Sync]);
        let mut undone = Vec::new();
        assert!(replies.fail(|expect, failed| undone.push((format!("{:?}", expect.message), failed))));
        assert_eq!(undone, [("Execute".to_owned(), false), ("Bind(Numbered(1))".to_owned(), true)]);
        assert_eq!(names(&replies), "SBS");
        let mut replies = queue(vec![BIND(1), Message::Execute]);
        assert!(!replies.fail(|_, _| {}));
        assert!(replies.is_empty());
    }

    #[test]
    fn a_lost_connection_owes_an_answer_for_every_turn() {
        let (query, execute) = (|| Message::Query, || Message::Execute);
        let mut replies = queue(vec![query(), BIND(1), query(), execute(), Message::Sync, query()]);
        push(&mut replies, BIND(2));
        let mut lost = Vec::new();
        // After a lost Bind the server would skip simple queries too, up to the Sync, as after any error.
        for end in [0, 4, 5] {
            assert_eq!(replies.lose_turn(&mut lost), Some(end));
        }
        assert_eq!(replies.lose_turn(&mut lost), None);
        assert!(replies.is_empty() && lost.len() == 7);
    }

    #[test]
    fn syncs_before_the_end_of_a_copy_are_not_answered() {
        let mut replies = queue(vec![Message::Execute, Message::Sync]);
        assert_eq!(replies.copy_in_began(), CopyIn { end_to_come: true, ignores_syncs: 1 });
        assert_eq!(names(&replies), "E");
        let mut replies = queue(vec![Message::Execute, Message::Sync, Message::CopyEnd, Message::Sync]);
        assert_eq!(replies.copy_in_began(), CopyIn { end_to_come: false, ignores_syncs: 1 });
        assert_eq!(names(&replies), "ES");
        let mut replies = queue(vec![Message::Execute, Message::CopyEnd, Message::Sync]);
        assert_eq!(replies.copy_in_began(), CopyIn { end_to_come: false, ignores_syncs: 0 });
    }
}
