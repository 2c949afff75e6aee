//! The turns on a server connection, in order, with the answers that the server owes them.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;

use super::reply::Place;
use super::turn::{Chore, Owner, Phase, Record, Turn};
use super::{CopyIn, Expect, Message, Replies, Reply};
use crate::carried::prepared::{Statement, StatementId};
use crate::keys::ClientKey;

/// An empty queue of more than this capacity is freed, so that an idle connection does not keep much memory.
const KEPT_CAPACITY: usize = 8;

/// The turns that were sent on a server connection, and their owners. The server answers in order: it now answers the first
/// turn.
///
/// Only the last turn can be open. Every other turn was sent completely, and one of the owed answers is its end.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    replies: Replies,
    turns: VecDeque<Turn>,
    /// How many of the turns belong to clients.
    of_clients: usize,
    /// Whether one of the turns may be recorded.
    is_recording: bool,
}

/// For all questions about the owed answers. Only `Turns` changes them.
impl Deref for Turns {
    type Target = Replies;

    fn deref(&self) -> &Replies {
        &self.replies
    }
}

/// The turns that a lost server connection has not answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostTurns {
    /// The owners of the complete turns, in order.
    pub(crate) owners: Vec<Owner>,
    /// Whether a turn without its Sync followed. The messages up to its Sync must be skipped.
    pub(crate) unended: bool,
}

impl Turns {
    /// The owed answers, for questions that need to change their index.
    pub(super) fn replies(&mut self) -> &mut Replies {
        &mut self.replies
    }

    /// The turn that the server answers now.
    pub(crate) fn first(&self) -> Option<&Turn> {
        self.turns.front()
    }

    /// The owner of the turn that the server answers now.
    #[inline]
    pub(crate) fn owner(&self) -> Option<Owner> {
        self.turns.front().map(|turn| turn.owner)
    }

    /// The turn that is being sent.
    fn open(&self) -> Option<&Turn> {
        self.turns.back().filter(|turn| turn.is_open())
    }

    /// Whether messages were sent after which no Sync was sent yet.
    #[inline]
    pub(crate) fn is_unsynced(&self) -> bool {
        self.open().is_some_and(|turn| turn.phase != Phase::Begun)
    }

    /// Whether the server skips all messages up to a Sync, and no Sync was sent yet.
    #[inline]
    pub(crate) fn is_skipping(&self) -> bool {
        self.turns.back().is_some_and(|turn| turn.phase == Phase::Skipping)
    }

    /// Whether no turn is under way.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.replies.is_empty() && !self.is_unsynced()
    }

    /// Whether the client that has the connection has a turn here, perhaps one of which nothing was sent yet. Its turns
    /// come after all other clients' turns.
    #[inline]
    pub(crate) fn has_turn_of(&self, client: ClientKey) -> bool {
        self.last_client() == Some(client)
    }

    /// The client whose turn is the last one. Few chores come after it.
    #[inline]
    fn last_client(&self) -> Option<ClientKey> {
        if self.of_clients == 0 {
            return None;
        }
        self.turns.iter().rev().find_map(Turn::client)
    }

    /// Whether any client has a turn here.
    pub(crate) fn has_clients(&self) -> bool {
        self.of_clients > 0
    }

    /// Whether turns of other clients follow those of the first client.
    pub(crate) fn is_shared(&self) -> bool {
        self.of_clients > 1 && self.turns.iter().find_map(Turn::client) != self.last_client()
    }

    /// Whether the last turn of a client belongs to another client than this one.
    pub(crate) fn last_client_is_not(&self, client: ClientKey) -> bool {
        self.last_client().is_some_and(|last| last != client)
    }

    /// Whether the client has a turn here.
    pub(crate) fn owes(&self, client: ClientKey) -> bool {
        self.turns.iter().any(|turn| turn.client() == Some(client))
    }

    /// Whether the first turn sets parameters, and a later turn sets them again for another client.
    pub(crate) fn sets_parameters_again(&self) -> bool {
        let sets = |turn: &&Turn| turn.owner == Owner::Chore(Chore::Parameters);
        self.turns.front().is_some_and(|first| sets(&first))
            && self.is_shared()
            && self.turns.iter().filter(sets).count() > 1
    }

    /// The client wants to cancel the first of its turns.
    pub(crate) fn want_cancel(&mut self, client: ClientKey) {
        if let Some(turn) = self.turns.iter_mut().find(|turn| turn.client() == Some(client)) {
            turn.cancel_wanted = true;
        }
    }

    /// The end of the first client's turns, if turns of other clients follow.
    fn end_of_first(&self) -> Option<Place> {
        if !self.is_shared() {
            return None;
        }
        let owner = self.owner()?;
        let of_first = self.turns.iter().take_while(|turn| turn.owner == owner);
        of_first.filter_map(Turn::end).last()
    }

    /// Whether we will repeat the first turn.
    pub(crate) fn is_healing(&self) -> bool {
        self.turns.front().is_some_and(|turn| matches!(turn.record, Record::Healing(_)))
    }

    /// The next message belongs to this client: to its open turn, or to a new one.
    pub(super) fn begin(&mut self, client: ClientKey) {
        self.open_for(Owner::Client(client));
    }

    /// The index of the owner's open turn; begins one if there is none. If the last turn is another owner's and nothing
    /// of it was sent, the new turn goes before it.
    fn open_for(&mut self, owner: Owner) -> usize {
        let turns = self.turns.len();
        let at = match self.turns.back() {
            Some(turn) if turn.phase == Phase::Begun && turn.owner != owner => turns - 1,
            Some(turn) if turn.is_open() => return turns - 1,
            _ => turns,
        };
        self.of_clients += usize::from(owner.client().is_some());
        self.turns.insert(at, Turn::new(owner));
        at
    }

    /// Adds an owed answer to the turn of this owner.
    #[inline]
    pub(crate) fn push(&mut self, mut expect: Expect, owner: Owner) {
        if matches!(owner, Owner::Chore(_)) {
            expect.disown();
        }
        let is_end_of_copy = matches!(expect.message, Message::CopyEnd);
        let ends = expect.ends_turn();
        let place = self.replies.push(expect);
        if !is_end_of_copy {
            let at = self.open_for(owner);
            self.turns[at].phase = if ends { Phase::Sent(place) } else { Phase::Unsynced };
        }
    }

    /// Adds an owed answer to the open turn, or to a new turn of the last turn's owner.
    #[inline]
    pub(crate) fn append(&mut self, expect: Expect) {
        let owner = self.turns.back().map_or(Owner::Chore(Chore::Abandoned), |turn| turn.owner);
        self.push(expect, owner);
    }

    /// The open turn needs a Sync, although the server owes it no answer.
    pub(super) fn leave_unsynced(&mut self) {
        if let Some(turn) = self.turns.back_mut().filter(|turn| turn.phase == Phase::Begun) {
            turn.phase = Phase::Unsynced;
        }
    }

    /// Removes a turn of which nothing was sent, because its client gives the connection back.
    pub(crate) fn drop_begun(&mut self) {
        if self.turns.back().is_some_and(|turn| turn.phase == Phase::Begun) {
            let begun = self.turns.pop_back();
            self.of_clients -= usize::from(begun.is_some_and(|turn| turn.client().is_some()));
        }
    }

    /// Removes the answer that has just come, and returns it with the turn that has ended with it.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Expect, Option<Turn>)> {
        let Reply { expect, place } = self.replies.pop()?;
        let ended = match self.turns.front() {
            Some(turn) if turn.phase == Phase::Sent(place) => self.pop_turn(),
            _ => None,
        };
        Some((expect, ended))
    }

    fn pop_turn(&mut self) -> Option<Turn> {
        let turn = self.turns.pop_front();
        self.of_clients -= usize::from(turn.as_ref().is_some_and(|turn| turn.client().is_some()));
        if self.turns.is_empty() && self.turns.capacity() > KEPT_CAPACITY {
            self.turns = VecDeque::new();
        }
        turn
    }

    /// The client has got an answer of the first turn. From now on we cannot repeat the turn without the client's noticing.
    #[inline]
    pub(super) fn answered(&mut self) {
        if let Some(turn) = self.turns.front_mut() {
            turn.answered = true;
        }
    }

    /// Adds a message to the record of the last turn. `None`: the turn cannot be repeated. We record only the first of a
    /// client's turns, and only as long as no other turn follows it.
    pub(super) fn record(&mut self, message: Option<&[u8]>, bytes_max: usize) {
        if !self.is_recording {
            return;
        }
        match (self.turns.back_mut().map(|turn| &mut turn.record), message) {
            (Some(Record::Kept(kept)), Some(message)) if kept.len() + message.len() <= bytes_max => {
                kept.extend_from_slice(message);
            }
            _ => drop(self.forget_record()),
        }
    }

    /// Records the turn that has just begun in this buffer.
    pub(super) fn start_record(&mut self, buffer: Vec<u8>) {
        if let Some(turn) = self.turns.back_mut() {
            turn.record = Record::Kept(buffer);
            self.is_recording = true;
        }
    }

    /// Whether the last turn was sent completely.
    pub(crate) fn last_is_sent(&self) -> bool {
        self.turns.back().is_some_and(|turn| !turn.is_open())
    }

    /// The first turn has failed, and its client was not told. We will repeat the turn after its ReadyForQuery.
    pub(super) fn heal(&mut self) {
        if let Some(turn) = self.turns.front_mut()
            && let Record::Kept(sent) = std::mem::take(&mut turn.record)
        {
            turn.record = Record::Healing(sent);
            self.replies.disown_head();
        }
    }

    /// An error has answered the head: see [`Replies::fail`]. Returns false if the server also skips the next messages.
    pub(super) fn fail(&mut self, undo: impl FnMut(Expect, /* failed itself: */ bool)) -> bool {
        let owner = self.owner();
        let synced = self.replies.fail(undo);
        let first = self.replies.head().map(|reply| reply.place);
        while let Some(Turn { phase: Phase::Sent(end), .. }) = self.turns.front()
            && first.is_none_or(|first| *end < first)
        {
            self.pop_turn();
        }
        if let (false, Some(owner)) = (synced, owner) {
            let at = self.open_for(owner);
            self.turns[at].phase = Phase::Skipping;
        }
        synced
    }

    /// CopyInResponse has come for the head: see [`Replies::copy_in_began`]. A turn whose Sync the server ignores goes
    /// on with the messages after that Sync.
    pub(super) fn copy_in_began(&mut self) -> CopyIn {
        let is_query = self.replies.head().is_some_and(|head| head.expect.ends_turn());
        let owner = self.owner();
        let copy = self.replies.copy_in_began();
        let ignored = copy.ignores_syncs;
        if ignored == 0 {
            return copy;
        }
        let first = usize::from(is_query);
        let rest = (first + ignored).min(self.turns.len());
        let next = self.turns.get(rest).map(|turn| turn.phase);
        let gone = match is_query {
            true => first..rest,
            false => 1..(rest + 1).min(self.turns.len()),
        };
        let gone = self.turns.drain(gone).filter(|turn| turn.client().is_some()).count();
        self.of_clients -= gone;
        if !is_query && let Some(turn) = self.turns.front_mut() {
            turn.phase = next.filter(|next| *next != Phase::Begun).unwrap_or(Phase::Unsynced);
        }
        if let (Some(owner), false) = (owner, self.replies.ends_with_turn()) {
            let at = self.open_for(owner);
            if self.turns[at].phase == Phase::Begun {
                self.turns[at].phase = Phase::Unsynced;
            }
        }
        copy
    }

    /// A client has gone. Its turns become abandoned turns.
    pub(crate) fn disown(&mut self, client: ClientKey) {
        // The answers up to the first turn's end belong to the first turn, and so on.
        let mut from = 0;
        for turn in &mut self.turns {
            let to = turn.end().map_or(Place::MAX, |end| end + 1);
            if turn.client() == Some(client) {
                turn.owner = Owner::Chore(Chore::Abandoned);
                turn.record = Record::None;
                self.of_clients -= 1;
                self.replies.disown(from..to);
            }
            from = to;
        }
        self.replies.forget_names();
    }

    /// After an error was undone: corrects the next change of the unnamed statement, see [`Replies::amend_unnamed`].
    /// Turns of other clients are left out, because these have unnamed statements of their own.
    pub(super) fn amend_unnamed(
        &mut self,
        server: Option<StatementId>,
        client: Option<&Arc<Statement>>,
    ) -> (bool, bool) {
        let end = self.end_of_first();
        self.replies.amend_unnamed(server, client, end)
    }

    /// Ends the recording, because the turn cannot be repeated any more. Returns the buffer with the recorded messages.
    pub(crate) fn forget_record(&mut self) -> Vec<u8> {
        self.is_recording = false;
        let kept = self.turns.iter_mut().rev().find(|turn| matches!(turn.record, Record::Kept(_)));
        match kept.map(|turn| std::mem::take(&mut turn.record)) {
            Some(Record::Kept(sent)) => sent,
            _ => Vec::new(),
        }
    }

    /// The connection is lost. Removes all owed answers and calls `undo` for each, from the last to the first, because
    /// later messages may build on changes of earlier ones. Returns the owners, who must be told.
    pub(super) fn lose(&mut self, mut undo: impl FnMut(Expect, Option<ClientKey>)) -> LostTurns {
        let (mut lost, mut owners, mut whose) = (Vec::new(), Vec::new(), Vec::new());
        let unended = loop {
            let unended = !self.replies.has_end()
                && self.replies.iter().any(|expect| !matches!(expect.message, Message::CopyEnd));
            let Some(end) = self.replies.lose_turn(&mut lost) else {
                whose.resize(lost.len(), self.last_client());
                break unended;
            };
            let mut owner = None;
            while let Some(Turn { phase: Phase::Sent(at), .. }) = self.turns.front()
                && *at <= end
            {
                owner = self.pop_turn().map(|turn| turn.owner);
            }
            whose.resize(lost.len(), owner.and_then(Owner::client));
            owners.extend(owner);
        };
        if unended {
            self.leave_unsynced();
        }
        let lost = lost.into_iter().zip(whose).rev();
        lost.for_each(|(reply, client)| undo(reply.expect, client));
        LostTurns { owners, unended }
    }
}
