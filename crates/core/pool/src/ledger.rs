//! The counts that all workers share: of a pool, of its database and of its user.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use crate::claim::Claim;
use crate::names::{Micros, PoolId};

/// The counts of one database or one user. All its pools share them, and limits apply to them.
#[derive(Debug, Default)]
pub struct Tally {
    servers: AtomicU32,
    clients: AtomicU32,
    /// The number of queues (of any pool, in any worker) in which a client waits.
    queues: AtomicU32,
    claim: Claim,
    /// Whether a login to a server has succeeded.
    known_to_exist: AtomicBool,
}

/// The limits of a database or a user; `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Maximum number of server connections.
    pub servers: Option<NonZeroU32>,
    /// Maximum number of clients.
    pub clients: Option<NonZeroU32>,
}

/// The limit that forbids another server connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `pool_size` (with the reserve, where it may be used).
    PoolSize,
    /// The database's connection limit.
    Database,
    /// The user's connection limit.
    User,
}

/// Whether `held` leaves no room for another one under `limit`.
pub(crate) fn is_reached(held: u32, limit: Option<NonZeroU32>) -> bool {
    limit.is_some_and(|limit| held >= limit.get())
}

fn try_increment(counter: &AtomicU32, limit: Option<NonZeroU32>) -> bool {
    counter.fetch_update(SeqCst, Relaxed, |held| (!is_reached(held, limit)).then_some(held + 1)).is_ok()
}

fn decrement(counter: &AtomicU32) {
    let before = counter.fetch_sub(1, SeqCst);
    debug_assert!(before > 0, "decremented more often than incremented");
}

impl Tally {
    /// Counts one more client, unless the limit is reached.
    #[must_use]
    pub fn try_add_client(&self, limit: Option<NonZeroU32>) -> bool {
        try_increment(&self.clients, limit)
    }

    /// Counts one client less: it has left.
    pub fn remove_client(&self) {
        decrement(&self.clients);
    }

    /// The number of server connections now, connections that are being opened included.
    #[must_use]
    pub fn servers(&self) -> u32 {
        self.servers.load(Relaxed)
    }

    /// The number of clients now.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.clients.load(Relaxed)
    }

    /// Whether a login to a server has succeeded. It proves that the database or the user exists.
    #[must_use]
    pub fn is_known_to_exist(&self) -> bool {
        self.known_to_exist.load(Relaxed)
    }
}

/// One worker's entry in the ledger.
#[derive(Debug, Default)]
struct WorkerEntry {
    /// The number of its idle server connections.
    idle: AtomicU32,
    /// When the first client of its queue began to wait, in microseconds of the process's clock; 0: no client waits.
    waiting_since: AtomicU64,
}

/// What all workers share about one pool: how many server connections it has, and in which workers clients wait.
#[derive(Debug)]
pub struct Ledger {
    /// The pool's number.
    pub id: PoolId,
    open: AtomicU32,
    /// How many logins to the server have succeeded so far.
    logins: AtomicU64,
    /// How many workers have a client in this pool's queue.
    waiting_workers: AtomicU32,
    by_worker: Box<[WorkerEntry]>,
    /// The counts that all pools of the database share.
    pub database: Arc<Tally>,
    /// The counts that all pools of the user share.
    pub user: Arc<Tally>,
}

impl Ledger {
    pub(crate) fn new(id: PoolId, workers: usize, database: Arc<Tally>, user: Arc<Tally>) -> Self {
        Self {
            id,
            open: AtomicU32::new(0),
            logins: AtomicU64::new(0),
            waiting_workers: AtomicU32::new(0),
            by_worker: (0..workers).map(|_| WorkerEntry::default()).collect(),
            database,
            user,
        }
    }

    /// Counts one more server connection for the pool, its database and its user, unless one of the limits is reached.
    /// For `database` and `user`, 0 means no limit.
    ///
    /// # Errors
    /// The limit that is reached. Then nothing is counted.
    pub fn try_add_server(
        &self,
        pool_limit: u32,
        database: Option<NonZeroU32>,
        user: Option<NonZeroU32>,
    ) -> Result<(), Limit> {
        if !try_increment(&self.open, NonZeroU32::new(pool_limit.max(1))) {
            return Err(Limit::PoolSize);
        }
        if !try_increment(&self.database.servers, database) {
            decrement(&self.open);
            return Err(Limit::Database);
        }
        if !try_increment(&self.user.servers, user) {
            decrement(&self.database.servers);
            decrement(&self.open);
            return Err(Limit::User);
        }
        self.database.claim.settle(self.id);
        self.user.claim.settle(self.id);
        Ok(())
    }

    /// Raises a claim for a client of this pool that waits since `since`: `limit` forbids a connection for it, and no other
    /// pool under that limit has an idle connection that could be closed. The claim ends after a second unless it is
    /// raised again.
    pub fn claim(&self, limit: Limit, since: Micros, now: Micros) {
        match limit {
            Limit::PoolSize => {}
            Limit::Database => self.database.claim.raise(self.id, since, now),
            Limit::User => self.user.claim.raise(self.id, since, now),
        }
    }

    /// Ends the claims that were raised for a client of this pool that waited since `since`: it no longer waits.
    pub fn withdraw_claim(&self, since: Micros) {
        self.database.claim.withdraw(self.id, since);
        self.user.claim.withdraw(self.id, since);
    }

    /// Counts a login to the server that has succeeded.
    pub fn count_login(&self) {
        self.logins.fetch_add(1, Relaxed);
        self.database.known_to_exist.store(true, Relaxed);
        self.user.known_to_exist.store(true, Relaxed);
    }

    /// How many logins to the server have succeeded so far, in all workers.
    #[must_use]
    pub fn logins(&self) -> u64 {
        self.logins.load(Relaxed)
    }

    /// The limit under which another pool has a claim that takes precedence over this pool. This pool's first client waits
    /// since `since` (`None`: no client waits).
    #[must_use]
    pub fn limit_of_other_claim(&self, since: Option<Micros>, now: Micros) -> Option<Limit> {
        let is_claimed = |tally: &Tally| tally.claim.takes_precedence(self.id, since, now);
        if is_claimed(&self.database) {
            return Some(Limit::Database);
        }
        is_claimed(&self.user).then_some(Limit::User)
    }

    /// Whether `other` is the ledger of another pool of the same database or user.
    #[must_use]
    pub fn shares_limit(&self, other: &Self) -> bool {
        let related = Arc::ptr_eq(&self.database, &other.database) || Arc::ptr_eq(&self.user, &other.user);
        related && self.id != other.id
    }

    /// Whether a client waits, in any worker, in another pool of the same database or user.
    #[must_use]
    pub fn clients_wait_in_related_pools(&self) -> bool {
        // This is read first: if a queue of this pool becomes empty between the loads, it must not hide a queue of
        // another pool.
        let own = self.waiting_workers.load(SeqCst);
        self.database.queues.load(SeqCst) > own || self.user.queues.load(SeqCst) > own
    }

    /// Counts one server connection less: it is closed.
    pub fn remove_server(&self) {
        decrement(&self.user.servers);
        decrement(&self.database.servers);
        decrement(&self.open);
    }

    /// How many workers share this ledger.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.by_worker.len()
    }

    /// The number of the pool's server connections now, connections that are being opened included.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.open.load(SeqCst)
    }

    /// Notes how many idle connections a worker has.
    pub fn set_idle(&self, worker: usize, idle: usize) {
        // SeqCst orders this store with `waiting_workers`. If one worker gets an idle connection while another one begins
        // to wait, at least one of the two sees what the other did.
        self.by_worker[worker].idle.store(u32::try_from(idle).unwrap_or(u32::MAX), SeqCst);
    }

    /// Notes since when the first client of a worker's queue waits (0: the queue is empty).
    pub fn set_waiting(&self, worker: usize, since: u64) {
        let before = self.by_worker[worker].waiting_since.swap(since, SeqCst);
        match (before, since) {
            (0, 1..) => {
                for counter in [&self.waiting_workers, &self.database.queues, &self.user.queues] {
                    counter.fetch_add(1, SeqCst);
                }
            }
            (1.., 0) => {
                for counter in [&self.waiting_workers, &self.database.queues, &self.user.queues] {
                    counter.fetch_sub(1, SeqCst);
                }
            }
            _ => {}
        }
    }

    /// Whether clients of any worker wait in this pool.
    pub(crate) fn has_waiting_clients(&self) -> bool {
        self.waiting_workers.load(SeqCst) > 0
    }

    /// The worker, other than `worker`, whose first client has waited longest, and since when that client waits.
    #[must_use]
    pub fn longest_waiting_worker(&self, worker: usize) -> Option<(usize, u64)> {
        if self.waiting_workers.load(SeqCst) == 0 {
            return None;
        }
        self.by_worker
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != worker)
            .map(|(other, entry)| (other, entry.waiting_since.load(Relaxed)))
            .filter(|(_, since)| *since != 0)
            .min_by_key(|(_, since)| *since)
    }

    /// A worker other than `worker` that has an idle connection.
    #[must_use]
    pub fn other_worker_with_idle(&self, worker: usize) -> Option<usize> {
        let mut others = self.by_worker.iter().enumerate().filter(|(other, _)| *other != worker);
        others.find(|(_, entry)| entry.idle.load(SeqCst) > 0).map(|(other, _)| other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ledgers;

    fn pool(ledgers: &Ledgers, database: &str, user: &str) -> Arc<Ledger> {
        ledgers.take_seat(database, user, None).expect("there is no limit")
    }

    #[test]
    fn limits_are_shared_between_pools_of_a_database() {
        let ledgers = Ledgers::new(2);
        let (a, b) = (pool(&ledgers, "d", "a"), pool(&ledgers, "d", "b"));
        let two = NonZeroU32::new(2);
        assert_eq!(a.try_add_server(2, two, None), Ok(()));
        assert_eq!(b.try_add_server(2, two, None), Ok(()));
        assert_eq!(a.try_add_server(2, two, None), Err(Limit::Database));
        b.remove_server();
        assert_eq!(a.try_add_server(2, two, None), Ok(()));
        assert_eq!(a.try_add_server(2, NonZeroU32::new(9), None), Err(Limit::PoolSize));
        assert_eq!((a.open(), b.open(), a.database.servers()), (2, 0, 2));
    }

    #[test]
    fn waiting_clients_are_seen_from_pools_that_share_a_limit() {
        let ledgers = Ledgers::new(2);
        let (a, b, other) = (pool(&ledgers, "d", "a"), pool(&ledgers, "d", "b"), pool(&ledgers, "e", "c"));
        assert!(a.shares_limit(&b) && !a.shares_limit(&other) && !a.shares_limit(&a));
        a.set_waiting(0, 5);
        assert!(
            !a.clients_wait_in_related_pools()
                && b.clients_wait_in_related_pools()
                && !other.clients_wait_in_related_pools()
        );
        a.set_waiting(1, 6);
        a.set_waiting(0, 0);
        assert!(b.clients_wait_in_related_pools());
        a.set_waiting(1, 0);
        assert!(!b.clients_wait_in_related_pools());
    }

    #[test]
    fn the_other_worker_that_waits_longest_is_found() {
        let ledger = pool(&Ledgers::new(3), "d", "u");
        assert_eq!(ledger.longest_waiting_worker(0), None);
        ledger.set_waiting(1, 50);
        ledger.set_waiting(2, 40);
        assert_eq!(ledger.longest_waiting_worker(0), Some((2, 40)));
        assert_eq!(ledger.longest_waiting_worker(2), Some((1, 50)));
        ledger.set_waiting(1, 0);
        ledger.set_waiting(2, 0);
        assert_eq!(ledger.longest_waiting_worker(0), None);
    }
}
