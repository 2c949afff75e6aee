//! Where, in what a server connection owes, the answers stand that something depends on.
//!
//! Most turns are never asked about, so nothing is written down until a question comes: then each answer is looked at
//! once, whatever the questions and however many answers there are.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::reply::{Place, Reply};
use super::{Expect, Undo};
use crate::carried::prepared::StatementId;

/// Set in the keys of names, and in no statement's id.
const OF_NAME: u64 = 1 << 63;

/// The places of the answers that touch one name or statement, in order.
#[derive(Debug)]
struct Touches {
    first: Place,
    later: VecDeque<Place>,
}

#[cfg(test)]
thread_local! {
    /// Answers looked at beside the first one.
    pub(super) static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// An answer is looked at: tests count that.
#[inline]
pub(super) fn visit() {
    #[cfg(test)]
    VISITS.set(VISITS.get() + 1);
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// What stands before this has been looked at.
    seen_to: Place,
    /// By a statement's id, or by a name's hash. Two names of one hash are one for us: a message then waits for an
    /// answer that it need not wait for.
    touches: HashMap<u64, Touches, RandomState>,
    /// Of all that changes the server's unnamed statement.
    unnamed: VecDeque<Place>,
    /// Of what keeps the unnamed statement that a client had before.
    unnamed_before: VecDeque<Place>,
    /// Of all by which a client's name, or a server's statement, comes to be.
    naming: VecDeque<Place>,
}

impl Places {
    /// Looks at what has not been looked at.
    pub(super) fn see(&mut self, queue: &VecDeque<Reply>, next: Place) {
        if self.seen_to == next {
            return;
        }
        let first = queue.partition_point(|reply| reply.place < self.seen_to);
        for reply in queue.range(first..) {
            visit();
            self.add(reply);
        }
        self.seen_to = next;
    }

    fn add(&mut self, reply: &Reply) {
        let place = reply.place;
        for key in self.keys(&reply.expect).into_iter().flatten() {
            let add = |touches: &mut Touches| touches.later.push_back(place);
            let new = || Touches { first: place, later: VecDeque::new() };
            self.touches.entry(key).and_modify(add).or_insert_with(new);
        }
        if reply.expect.sets_unnamed() {
            self.unnamed.push_back(place);
        }
        if reply.expect.keeps_unnamed() {
            self.unnamed_before.push_back(place);
        }
        if names(&reply.expect) {
            self.naming.push_back(place);
        }
    }

    /// The first of all is no longer owed.
    #[inline]
    pub(super) fn first_taken(&mut self, reply: &Reply) {
        if reply.place < self.seen_to {
            self.remove_first(reply);
        }
    }

    fn remove_first(&mut self, reply: &Reply) {
        for key in self.keys(&reply.expect).into_iter().flatten() {
            self.first_untouched(key);
        }
        for list in [&mut self.unnamed, &mut self.unnamed_before, &mut self.naming] {
            if list.front() == Some(&reply.place) {
                list.pop_front();
            }
        }
    }

    /// The first answer that touched the statement (or what has that key) touches it no longer.
    pub(super) fn first_untouched(&mut self, key: u64) {
        let Some(touches) = self.touches.get_mut(&key) else { return };
        match touches.later.pop_front() {
            Some(next) => touches.first = next,
            None => drop(self.touches.remove(&key)),
        }
    }

    /// All are looked at again when next asked: their owners have changed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Nothing is owed: what would only hold memory goes.
    pub(super) fn shrink(&mut self, kept: usize) {
        let lists = [&self.unnamed, &self.unnamed_before, &self.naming];
        if self.touches.capacity() > kept || lists.iter().any(|list| list.capacity() > kept) {
            let seen_to = self.seen_to;
            *self = Self { seen_to, ..Self::default() };
        }
    }

    /// The first answer that touches the statement.
    pub(super) fn of_statement(&self, id: StatementId) -> Option<Place> {
        self.touches.get(&id.get()).map(|touches| touches.first)
    }

    /// The first answer that touches the client's name.
    pub(super) fn of_name(&self, name: &[u8]) -> Option<Place> {
        self.touches.get(&self.key(name)).map(|touches| touches.first)
    }

    /// The first that changes the server's unnamed statement, and the first that keeps what the client's was before.
    pub(super) fn of_unnamed(&self) -> (Option<Place>, Option<Place>) {
        (self.unnamed.front().copied(), self.unnamed_before.front().copied())
    }

    /// All by which a name or a statement comes to be, in order.
    pub(super) fn naming(&self) -> impl Iterator<Item = Place> {
        self.naming.iter().copied()
    }

    fn key(&self, name: &[u8]) -> u64 {
        self.touches.hasher().hash_one(name) | OF_NAME
    }

    /// By what is found again: the name and the statement that an answer touches.
    fn keys(&self, expect: &Expect) -> [Option<u64>; 2] {
        match &expect.undo {
            Undo::Named(statement, name) => [Some(statement.id.get()), Some(self.key(name))],
            Undo::Prepared(statement) | Undo::Closed(statement) => [Some(statement.id.get()), None],
            Undo::Claimed(name) | Undo::Released(name, _) => [None, Some(self.key(name))],
            Undo::Nothing | Undo::Unnamed(_) | Undo::BothUnnamed(..) => [None, None],
        }
    }
}

fn names(expect: &Expect) -> bool {
    matches!(expect.undo, Undo::Named(..) | Undo::Prepared(_) | Undo::Claimed(_))
}
