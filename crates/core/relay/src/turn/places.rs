//! An index of the answers that a server connection owes: it finds those that concern a name or a statement.
//!
//! No question is ever asked about most turns, so an answer is indexed only when a question comes. Each answer is then looked at once,
//! however many questions and answers there are.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::reply::{Place, Reply};
use super::{Expect, Undo};
use crate::carried::prepared::StatementId;

/// This bit is set in every key of a name, and in no statement's id.
const OF_NAME: u64 = 1 << 63;

/// The places of the answers that concern one name or statement, in order.
#[derive(Debug)]
struct PlacesOfKey {
    first: Place,
    later: VecDeque<Place>,
}

#[cfg(test)]
thread_local! {
    /// How many answers were looked at, other than the first one.
    pub(super) static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts for tests that an answer was looked at.
#[inline]
pub(super) fn visit() {
    #[cfg(test)]
    VISITS.set(VISITS.get() + 1);
}

/// The index (see the module).
#[derive(Debug, Default)]
pub(super) struct Places {
    /// All answers before this place are indexed.
    indexed_to: Place,
    /// By a statement's id, or by a name's hash. Two names with the same hash count as one name: then a message may
    /// wait for an answer without need.
    by_key: HashMap<u64, PlacesOfKey, RandomState>,
    /// Answers to messages that change the server's unnamed statement.
    unnamed: VecDeque<Place>,
    /// Answers to messages that also change the client's unnamed statement.
    unnamed_before: VecDeque<Place>,
    /// Answers to messages that give a client a name or a server connection a statement.
    creating: VecDeque<Place>,
}

impl Places {
    /// Indexes all answers that are not indexed yet.
    pub(super) fn index_new(&mut self, queue: &VecDeque<Reply>, next: Place) {
        if self.indexed_to == next {
            return;
        }
        let first = queue.partition_point(|reply| reply.place < self.indexed_to);
        for reply in queue.range(first..) {
            visit();
            self.add(reply);
        }
        self.indexed_to = next;
    }

    fn add(&mut self, reply: &Reply) {
        let place = reply.place;
        for key in self.keys(&reply.expect).into_iter().flatten() {
            let add = |places: &mut PlacesOfKey| places.later.push_back(place);
            let new = || PlacesOfKey { first: place, later: VecDeque::new() };
            self.by_key.entry(key).and_modify(add).or_insert_with(new);
        }
        if reply.expect.sets_unnamed() {
            self.unnamed.push_back(place);
        }
        if reply.expect.keeps_unnamed() {
            self.unnamed_before.push_back(place);
        }
        if creates(&reply.expect) {
            self.creating.push_back(place);
        }
    }

    /// The first answer of the queue was removed from it.
    #[inline]
    pub(super) fn head_removed(&mut self, reply: &Reply) {
        if reply.place < self.indexed_to {
            self.remove_first(reply);
        }
    }

    fn remove_first(&mut self, reply: &Reply) {
        for key in self.keys(&reply.expect).into_iter().flatten() {
            self.remove_first_of_key(key);
        }
        for list in [&mut self.unnamed, &mut self.unnamed_before, &mut self.creating] {
            if list.front() == Some(&reply.place) {
                list.pop_front();
            }
        }
    }

    /// The first answer with this key no longer concerns the key's name or statement.
    pub(super) fn remove_first_of_key(&mut self, key: u64) {
        let Some(places) = self.by_key.get_mut(&key) else { return };
        match places.later.pop_front() {
            Some(next) => places.first = next,
            None => drop(self.by_key.remove(&key)),
        }
    }

    /// The owners of answers have changed. All answers are indexed again at the next question.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The queue is empty. Frees memory if any table or list has a capacity above `kept`.
    pub(super) fn shrink(&mut self, kept: usize) {
        let lists = [&self.unnamed, &self.unnamed_before, &self.creating];
        if self.by_key.capacity() > kept || lists.iter().any(|list| list.capacity() > kept) {
            let indexed_to = self.indexed_to;
            *self = Self { indexed_to, ..Self::default() };
        }
    }

    /// The first answer that concerns the statement.
    pub(super) fn of_statement(&self, id: StatementId) -> Option<Place> {
        self.by_key.get(&id.get()).map(|places| places.first)
    }

    /// The first answer that concerns the client's name for a statement.
    pub(super) fn of_name(&self, name: &[u8]) -> Option<Place> {
        self.by_key.get(&self.key(name)).map(|places| places.first)
    }

    /// The first answer to a message that changes the server's unnamed statement, and the first to one that changes the
    /// client's too.
    pub(super) fn of_unnamed(&self) -> (Option<Place>, Option<Place>) {
        (self.unnamed.front().copied(), self.unnamed_before.front().copied())
    }

    /// The answers to messages that give a client a name or a server connection a statement, in order.
    pub(super) fn creating(&self) -> impl Iterator<Item = Place> {
        self.creating.iter().copied()
    }

    fn key(&self, name: &[u8]) -> u64 {
        self.by_key.hasher().hash_one(name) | OF_NAME
    }

    /// The keys of the name and the statement that an answer concerns.
    fn keys(&self, expect: &Expect) -> [Option<u64>; 2] {
        match &expect.undo {
            Undo::PreparedAs(statement, name) => [Some(statement.id.get()), Some(self.key(name))],
            Undo::Prepared(statement) | Undo::Closed(statement) => [Some(statement.id.get()), None],
            Undo::NameAdded(name) | Undo::NameRemoved(name, _) => [None, Some(self.key(name))],
            Undo::Nothing | Undo::ServerUnnamed(_) | Undo::BothUnnamed(..) => [None, None],
        }
    }
}

fn creates(expect: &Expect) -> bool {
    matches!(expect.undo, Undo::PreparedAs(..) | Undo::Prepared(_) | Undo::NameAdded(_))
}
