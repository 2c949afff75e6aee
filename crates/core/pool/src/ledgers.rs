//! All pools of the process, by their names.
//!
//! Each worker that has a part of a pool holds a seat at the pool's ledger. When the last seat is given back, the pool is
//! forgotten: another pool can use its place, and the memory of its names is freed.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ledger::{Ledger, Tally};
use crate::names::PoolId;

/// All ledgers of the process. Workers use this when they make their part of a pool, and when they drop it.
#[derive(Debug)]
pub struct Ledgers {
    workers: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    pools: HashMap<(String, String), Entry>,
    databases: HashMap<String, SharedTally>,
    users: HashMap<String, SharedTally>,
    /// Free places of forgotten pools, each with the generation that the next pool there gets.
    free: Vec<PoolId>,
    /// The number of places that were ever used.
    places: u32,
}

#[derive(Debug)]
struct Entry {
    ledger: Arc<Ledger>,
    seats: usize,
}

/// The tally of a database or a user, and the number of its pools.
#[derive(Debug, Default)]
struct SharedTally {
    tally: Arc<Tally>,
    pools: usize,
}

fn add_pool(tallies: &mut HashMap<String, SharedTally>, name: &str) -> Arc<Tally> {
    let shared = tallies.entry(name.to_owned()).or_default();
    shared.pools += 1;
    Arc::clone(&shared.tally)
}

fn remove_pool(tallies: &mut HashMap<String, SharedTally>, name: &str) {
    let Some(shared) = tallies.get_mut(name) else { return };
    shared.pools -= 1;
    if shared.pools == 0 {
        tallies.remove(name);
    }
}

impl Ledgers {
    /// No pools yet, for `workers` workers, which are numbered from 0.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { workers, inner: Mutex::default() }
    }

    /// Takes a seat at the ledger of a pool; the first seat makes the pool. `None` if the pool does not exist and there are
    /// `pools_max` pools already. Give the seat back with [`Ledgers::give_back_seat`].
    pub fn take_seat(
        &self,
        database: &str,
        user: &str,
        pools_max: Option<NonZeroU32>,
    ) -> Option<Arc<Ledger>> {
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
        let (of_database, of_user) =
            (add_pool(&mut inner.databases, database), add_pool(&mut inner.users, user));
        let ledger = Arc::new(Ledger::new(id, self.workers, of_database, of_user));
        inner.pools.insert(names, Entry { ledger: Arc::clone(&ledger), seats: 1 });
        Some(ledger)
    }

    /// Gives a seat back. The worker must not change any count in `ledger` afterwards.
    pub fn give_back_seat(&self, database: &str, user: &str, ledger: &Arc<Ledger>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let names = (database.to_owned(), user.to_owned());
        let Some(entry) = inner.pools.get_mut(&names) else { return };
        debug_assert!(Arc::ptr_eq(&entry.ledger, ledger), "a seat at another ledger");
        entry.seats -= 1;
        if entry.seats > 0 {
            return;
        }
        debug_assert_eq!(ledger.open(), 0, "the pool still has server connections");
        inner.pools.remove(&names);
        remove_pool(&mut inner.databases, database);
        remove_pool(&mut inner.users, user);
        inner.free.push(ledger.id.next());
        if inner.pools.is_empty() {
            // Free the memory that a burst of pools has left.
            inner.pools.shrink_to_fit();
            inner.databases.shrink_to_fit();
            inner.users.shrink_to_fit();
        }
    }

    /// The ledger of a pool, if a worker has a seat at it.
    #[must_use]
    pub fn find(&self, database: &str, user: &str) -> Option<Arc<Ledger>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.pools.get(&(database.to_owned(), user.to_owned())).map(|entry| Arc::clone(&entry.ledger))
    }

    /// Whether a login to that database has succeeded on a server since the first of its present pools was made.
    #[must_use]
    pub fn is_known_to_exist(&self, database: &str) -> bool {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.databases.get(database).is_some_and(|shared| shared.tally.is_known_to_exist())
    }

    /// The number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The number of pools.
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
    fn a_pool_exists_as_long_as_a_worker_has_a_seat() {
        let ledgers = Ledgers::new(2);
        let (first, second) = (
            ledgers.take_seat("d", "u", None).expect("room"),
            ledgers.take_seat("d", "u", None).expect("room"),
        );
        assert!(Arc::ptr_eq(&first, &second));
        first.count_login();
        assert!(ledgers.is_known_to_exist("d"));
        ledgers.give_back_seat("d", "u", &first);
        assert!(ledgers.find("d", "u").is_some(), "the other worker still has a seat");
        ledgers.give_back_seat("d", "u", &second);
        assert!(ledgers.is_empty() && ledgers.find("d", "u").is_none() && !ledgers.is_known_to_exist("d"));
        let inner = ledgers.inner.lock().expect("nobody panicked");
        assert!(inner.databases.is_empty() && inner.users.is_empty());
    }

    #[test]
    fn a_place_is_used_again_under_another_number() {
        let ledgers = Ledgers::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..1000 {
            let name = format!("made up {round}");
            let ledger = ledgers.take_seat(&name, "u", None).expect("room");
            assert_eq!(ledger.id.place(), 0);
            assert!(seen.insert(ledger.id), "the number of a pool that is gone");
            ledgers.give_back_seat(&name, "u", &ledger);
        }
    }

    #[test]
    fn the_number_of_pools_is_bounded_and_existing_pools_still_give_seats() {
        let ledgers = Ledgers::new(1);
        let two = NonZeroU32::new(2);
        let a = ledgers.take_seat("a", "u", two).expect("room");
        let b = ledgers.take_seat("b", "u", two).expect("room");
        assert!(ledgers.take_seat("c", "u", two).is_none());
        assert!(ledgers.take_seat("b", "u", two).is_some());
        assert_eq!((ledgers.len(), a.shares_limit(&b)), (2, true));
        ledgers.give_back_seat("a", "u", &a);
        let c = ledgers.take_seat("c", "u", two).expect("a place came free");
        assert!(c.shares_limit(&b), "both pools have the same user");
    }
}
