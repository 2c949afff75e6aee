//! What all workers share about a pool.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use crate::claim::Claim;
use crate::names::{Micros, PoolId};

/// A counter with a limit that several pools may share (a database's, a user's).
#[derive(Debug, Default)]
pub struct Tally {
    servers: AtomicU32,
    clients: AtomicU32,
    /// Queues (of any pool, in any worker) in which a client waits.
    queues: AtomicU32,
    claim: Claim,
    /// A login to a server has succeeded.
    proven: AtomicBool,
}

/// Limits of a [`Tally`]; `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Server connections at most.
    pub servers: Option<NonZeroU32>,
    /// Client connections at most.
    pub clients: Option<NonZeroU32>,
}

/// Which bound was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// `pool_size` (with the reserve, where it may be used).
    PoolSize,
    /// The database's connection limit.
    Database,
    /// The user's connection limit.
    User,
}

/// Whether so many leave no room for another one under `limit`.
pub(crate) fn is_reached(held: u32, limit: Option<NonZeroU32>) -> bool {
    limit.is_some_and(|limit| held >= limit.get())
}

fn take(counter: &AtomicU32, limit: Option<NonZeroU32>) -> bool {
    counter.fetch_update(SeqCst, Relaxed, |held| (!is_reached(held, limit)).then_some(held + 1)).is_ok()
}

fn give_back(counter: &AtomicU32) {
    let before = counter.fetch_sub(1, SeqCst);
    debug_assert!(before > 0, "given back more than was taken");
}

impl Tally {
    /// Counts one more client, unless the limit is reached.
    #[must_use]
    pub fn take_client(&self, limit: Option<NonZeroU32>) -> bool {
        take(&self.clients, limit)
    }

    /// A client has left.
    pub fn give_client(&self) {
        give_back(&self.clients);
    }

    /// Server connections now.
    #[must_use]
    pub fn servers(&self) -> u32 {
        self.servers.load(Relaxed)
    }

    /// Clients now.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.clients.load(Relaxed)
    }

    /// Whether a login to a server has succeeded: that there is such a database, or such a user.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.proven.load(Relaxed)
    }
}

/// One worker's line in the ledger.
#[derive(Debug, Default)]
struct Desk {
    /// Idle server connections.
    idle: AtomicU32,
    /// Since when the head of the queue waits, microseconds of the process's clock; 0: nobody waits.
    waiting_since: AtomicU64,
}

/// One pool's shared account: connections in existence, and which worker starves.
#[derive(Debug)]
pub struct Ledger {
    /// The pool's number.
    pub id: PoolId,
    open: AtomicU32,
    /// Connections that were logged in so far.
    logins: AtomicU64,
    starving: AtomicU32,
    desks: Box<[Desk]>,
    /// Shared by all pools of the database.
    pub database: Arc<Tally>,
    /// Shared by all pools of the user.
    pub user: Arc<Tally>,
}

impl Ledger {
    pub(crate) fn new(id: PoolId, workers: usize, database: Arc<Tally>, user: Arc<Tally>) -> Self {
        Self {
            id,
            open: AtomicU32::new(0),
            logins: AtomicU64::new(0),
            starving: AtomicU32::new(0),
            desks: (0..workers).map(|_| Desk::default()).collect(),
            database,
            user,
        }
    }

    /// Counts one more server connection of `pool_limit` at most, or says which bound forbids it.
    ///
    /// # Errors
    /// The bound that is reached; nothing is counted then.
    pub fn take_server(
        &self,
        pool_limit: u32,
        database: Option<NonZeroU32>,
        user: Option<NonZeroU32>,
    ) -> Result<(), Refused> {
        if !take(&self.open, NonZeroU32::new(pool_limit.max(1))) {
            return Err(Refused::PoolSize);
        }
        if !take(&self.database.servers, database) {
            give_back(&self.open);
            return Err(Refused::Database);
        }
        if !take(&self.user.servers, user) {
            give_back(&self.database.servers);
            give_back(&self.open);
            return Err(Refused::User);
        }
        self.database.claim.settle(self.id);
        self.user.claim.settle(self.id);
        Ok(())
    }

    /// A client of this pool waits since `since` for a connection that `refused` denies it, and nobody has an idle one
    /// to close. Counts for about a second; call again while it is so.
    pub fn claim(&self, refused: Refused, since: Micros, now: Micros) {
        match refused {
            Refused::PoolSize => {}
            Refused::Database => self.database.claim.raise(self.id, since, now),
            Refused::User => self.user.claim.raise(self.id, since, now),
        }
    }

    /// A client that waited since `since` waits no more: what was claimed for it is anybody's.
    pub fn withdraw_claim(&self, since: Micros) {
        self.database.claim.withdraw(self.id, since);
        self.user.claim.withdraw(self.id, since);
    }

    /// A login has succeeded.
    pub fn count_login(&self) {
        self.logins.fetch_add(1, Relaxed);
        self.database.proven.store(true, Relaxed);
        self.user.proven.store(true, Relaxed);
    }

    /// How many have so far, in all workers.
    #[must_use]
    pub fn logins(&self) -> u64 {
        self.logins.load(Relaxed)
    }

    /// The bound under which another pool waits longer than this one, whose first client waits since `since`.
    #[must_use]
    pub fn claimed_by_another(&self, since: Option<Micros>, now: Micros) -> Option<Refused> {
        let before = |tally: &Tally| tally.claim.is_before(self.id, since, now);
        if before(&self.database) {
            return Some(Refused::Database);
        }
        before(&self.user).then_some(Refused::User)
    }

    /// Whether it is another pool of the same database or user.
    #[must_use]
    pub fn shares_limit(&self, other: &Self) -> bool {
        let related = Arc::ptr_eq(&self.database, &other.database) || Arc::ptr_eq(&self.user, &other.user);
        related && self.id != other.id
    }

    /// Whether a client waits, in any worker, in another pool of the same database or user.
    #[must_use]
    pub fn sharers_wait(&self) -> bool {
        // Read first: a queue of this pool that empties in between must not hide one of another.
        let own = self.starving.load(SeqCst);
        self.database.queues.load(SeqCst) > own || self.user.queues.load(SeqCst) > own
    }

    /// A server connection is gone.
    pub fn give_server(&self) {
        give_back(&self.user.servers);
        give_back(&self.database.servers);
        give_back(&self.open);
    }

    /// How many workers share this ledger.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.desks.len()
    }

    /// Server connections of the pool now, those being opened included.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.open.load(SeqCst)
    }

    /// A worker says how many connections sit idle with it.
    pub fn set_idle(&self, worker: usize, idle: usize) {
        // Ordered against `starving`: of a worker that puts one down and one that starts to wait, one sees the other.
        self.desks[worker].idle.store(u32::try_from(idle).unwrap_or(u32::MAX), SeqCst);
    }

    /// A worker says since when its queue's head waits (0: its queue is empty).
    pub fn set_waiting(&self, worker: usize, since: u64) {
        let before = self.desks[worker].waiting_since.swap(since, SeqCst);
        match (before, since) {
            (0, 1..) => {
                for counter in [&self.starving, &self.database.queues, &self.user.queues] {
                    counter.fetch_add(1, SeqCst);
                }
            }
            (1.., 0) => {
                for counter in [&self.starving, &self.database.queues, &self.user.queues] {
                    counter.fetch_sub(1, SeqCst);
                }
            }
            _ => {}
        }
    }

    /// Whether clients of any worker wait in this pool.
    pub(crate) fn is_starving(&self) -> bool {
        self.starving.load(SeqCst) > 0
    }

    /// The other worker whose queue's head waits longest, with that moment.
    #[must_use]
    pub fn starving_elsewhere(&self, worker: usize) -> Option<(usize, u64)> {
        if self.starving.load(SeqCst) == 0 {
            return None;
        }
        self.desks
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != worker)
            .map(|(other, desk)| (other, desk.waiting_since.load(Relaxed)))
            .filter(|(_, since)| *since != 0)
            .min_by_key(|(_, since)| *since)
    }

    /// A worker other than `worker` that has an idle connection.
    #[must_use]
    pub fn idle_elsewhere(&self, worker: usize) -> Option<usize> {
        let mut others = self.desks.iter().enumerate().filter(|(other, _)| *other != worker);
        others.find(|(_, desk)| desk.idle.load(SeqCst) > 0).map(|(other, _)| other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ledgers;

    fn pool(ledgers: &Ledgers, database: &str, user: &str) -> Arc<Ledger> {
        ledgers.enter(database, user, None).expect("there is no bound")
    }

    #[test]
    fn limits_are_shared_between_pools_of_a_database() {
        let ledgers = Ledgers::new(2);
        let (a, b) = (pool(&ledgers, "d", "a"), pool(&ledgers, "d", "b"));
        assert_eq!(a.take_server(2, NonZeroU32::new(2), None), Ok(()));
        assert_eq!(b.take_server(2, NonZeroU32::new(2), None), Ok(()));
        assert_eq!(a.take_server(2, NonZeroU32::new(2), None), Err(Refused::Database));
        b.give_server();
        assert_eq!(a.take_server(2, NonZeroU32::new(2), None), Ok(()));
        assert_eq!(a.take_server(2, NonZeroU32::new(9), None), Err(Refused::PoolSize));
        assert_eq!((a.open(), b.open(), a.database.servers()), (2, 0, 2));
    }

    #[test]
    fn who_shares_a_limit_is_seen_to_wait() {
        let ledgers = Ledgers::new(2);
        let (a, b, other) = (pool(&ledgers, "d", "a"), pool(&ledgers, "d", "b"), pool(&ledgers, "e", "c"));
        assert!(a.shares_limit(&b) && !a.shares_limit(&other) && !a.shares_limit(&a));
        a.set_waiting(0, 5);
        assert!(!a.sharers_wait() && b.sharers_wait() && !other.sharers_wait());
        a.set_waiting(1, 6);
        a.set_waiting(0, 0);
        assert!(b.sharers_wait());
        a.set_waiting(1, 0);
        assert!(!b.sharers_wait());
    }

    #[test]
    fn the_longest_waiter_elsewhere_is_found() {
        let ledger = pool(&Ledgers::new(3), "d", "u");
        assert_eq!(ledger.starving_elsewhere(0), None);
        ledger.set_waiting(1, 50);
        ledger.set_waiting(2, 40);
        assert_eq!(ledger.starving_elsewhere(0), Some((2, 40)));
        assert_eq!(ledger.starving_elsewhere(2), Some((1, 50)));
        ledger.set_waiting(1, 0);
        ledger.set_waiting(2, 0);
        assert_eq!(ledger.starving_elsewhere(0), None);
    }
}
