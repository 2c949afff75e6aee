//! All pools of the process, by their names.
//!
//! Each worker that has a part of a pool holds a seat at its ledger. With the last seat the pool is forgotten: its place is
//! free for another, and so is all memory that its names took.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ledger::{Ledger, Tally};
use crate::names::PoolId;

/// All ledgers of the process: asked when a worker meets a database and user, and when it forgets them.
#[derive(Debug)]
pub struct Ledgers {
    workers: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    pools: HashMap<(String, String), Entry>,
    databases: HashMap<String, Member>,
    users: HashMap<String, Member>,
    /// Places that pools have left, with the generation that comes next.
    free: Vec<PoolId>,
    /// Places that were ever taken.
    places: u32,
}

#[derive(Debug)]
struct Entry {
    ledger: Arc<Ledger>,
    seats: usize,
}

/// A database or a user, with how many pools it has.
#[derive(Debug, Default)]
struct Member {
    tally: Arc<Tally>,
    pools: usize,
}

fn join(members: &mut HashMap<String, Member>, name: &str) -> Arc<Tally> {
    let member = members.entry(name.to_owned()).or_default();
    member.pools += 1;
    Arc::clone(&member.tally)
}

fn part(members: &mut HashMap<String, Member>, name: &str) {
    let Some(member) = members.get_mut(name) else { return };
    member.pools -= 1;
    if member.pools == 0 {
        members.remove(name);
    }
}

impl Ledgers {
    /// For `workers` workers, numbered from 0.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { workers, inner: Mutex::default() }
    }

    /// A seat at the ledger of a pool, which is made at first use. `None` when there are `pools_max` pools
    /// already and this is none of them. Give it back with [`Ledgers::leave`].
    pub fn enter(&self, database: &str, user: &str, pools_max: Option<NonZeroU32>) -> Option<Arc<Ledger>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *inner;
        let names = (database.to_owned(), user.to_owned());
        if let Some(found) = inner.pools.get_mut(&names) {
            found.seats += 1;
            return Some(Arc::clone(&found.ledger));
        }
        if pools_max.is_some_and(|most| inner.pools.len() >= most.get() as usize) {
            return None;
        }
        let id = inner.free.pop().unwrap_or_else(|| {
            inner.places += 1;
            PoolId::first(inner.places - 1)
        });
        let (of_database, of_user) = (join(&mut inner.databases, database), join(&mut inner.users, user));
        let ledger = Arc::new(Ledger::new(id, self.workers, of_database, of_user));
        inner.pools.insert(names, Entry { ledger: Arc::clone(&ledger), seats: 1 });
        Some(ledger)
    }

    /// Gives a seat back. Nobody may count anything in `ledger` by it any more.
    pub fn leave(&self, database: &str, user: &str, ledger: &Arc<Ledger>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let names = (database.to_owned(), user.to_owned());
        let Some(entry) = inner.pools.get_mut(&names) else { return };
        debug_assert!(Arc::ptr_eq(&entry.ledger, ledger), "a seat at another ledger");
        entry.seats -= 1;
        if entry.seats > 0 {
            return;
        }
        debug_assert_eq!(ledger.open(), 0, "a pool with server connections is left");
        inner.pools.remove(&names);
        part(&mut inner.databases, database);
        part(&mut inner.users, user);
        inner.free.push(ledger.id.next());
        if inner.pools.is_empty() {
            // What a burst has taken goes back.
            inner.pools.shrink_to_fit();
            inner.databases.shrink_to_fit();
            inner.users.shrink_to_fit();
        }
    }

    /// The ledger of a pool that some worker has a part of.
    #[must_use]
    pub fn find(&self, database: &str, user: &str) -> Option<Arc<Ledger>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.pools.get(&(database.to_owned(), user.to_owned())).map(|entry| Arc::clone(&entry.ledger))
    }

    /// Whether a server has let somebody in to that database, as far as is still known.
    #[must_use]
    pub fn is_proven(&self, database: &str) -> bool {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.databases.get(database).is_some_and(|member| member.tally.is_proven())
    }

    /// How many workers share them.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// How many pools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).pools.len()
    }

    /// Whether there is no pool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_lives_as_long_as_somebody_has_a_seat() {
        let ledgers = Ledgers::new(2);
        let (first, second) =
            (ledgers.enter("d", "u", None).expect("room"), ledgers.enter("d", "u", None).expect("room"));
        assert!(Arc::ptr_eq(&first, &second));
        first.count_login();
        assert!(ledgers.is_proven("d"));
        ledgers.leave("d", "u", &first);
        assert!(ledgers.find("d", "u").is_some(), "the other worker has it still");
        ledgers.leave("d", "u", &second);
        assert!(ledgers.is_empty() && ledgers.find("d", "u").is_none() && !ledgers.is_proven("d"));
        let inner = ledgers.inner.lock().expect("nobody panicked");
        assert!(inner.databases.is_empty() && inner.users.is_empty());
    }

    #[test]
    fn a_place_is_taken_again_under_another_number() {
        let ledgers = Ledgers::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..1000 {
            let name = format!("made up {round}");
            let ledger = ledgers.enter(&name, "u", None).expect("room");
            assert_eq!(ledger.id.place(), 0);
            assert!(seen.insert(ledger.id), "the number of a pool that is gone");
            ledgers.leave(&name, "u", &ledger);
        }
    }

    #[test]
    fn their_number_is_bounded_and_who_is_there_is_not_turned_away() {
        let ledgers = Ledgers::new(1);
        let a = ledgers.enter("a", "u", NonZeroU32::new(2)).expect("room");
        let b = ledgers.enter("b", "u", NonZeroU32::new(2)).expect("room");
        assert!(ledgers.enter("c", "u", NonZeroU32::new(2)).is_none());
        assert!(ledgers.enter("b", "u", NonZeroU32::new(2)).is_some());
        assert_eq!((ledgers.len(), a.shares_limit(&b)), (2, true));
        ledgers.leave("a", "u", &a);
        let c = ledgers.enter("c", "u", NonZeroU32::new(2)).expect("a place came free");
        assert!(c.shares_limit(&b), "the user is still the same");
    }
}
