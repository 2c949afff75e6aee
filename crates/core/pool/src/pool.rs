//! One worker's part of a pool: its idle server connections and its queue of clients.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::ledger::{Capacity, Ledger, Limit, is_reached};
use crate::names::{Micros, has_passed, micros};
use crate::settings::PoolSettings;

/// A connection goes to another worker's client only if that client has waited for more than twice as long as the first
/// client here, plus this. To move a connection costs more than a turn, so workers whose clients wait about equally long
/// must not exchange connections.
const HANDOFF_SLACK: Micros = 2_000;

/// How often the wait between failed logins is doubled at most. Doubled so often, a millisecond becomes hours.
const DOUBLINGS_MAX: u32 = 24;

/// A client that waits for a server connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter<C> {
    /// The client.
    pub client: C,
    /// When it began to wait.
    pub since: Micros,
}

/// Where a server connection goes that became free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release<C> {
    /// To this client: it was the first of the queue here, and is no longer in it.
    Serve(Waiter<C>),
    /// To this worker, whose clients wait longer. The connection is on no list here.
    Handoff(usize),
    /// To the idle list here, where it already is.
    Idle,
}

/// What the caller must do for the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Open a connection, which is already counted; then call [`Pool::opened`], `open_failed` or `open_cancelled`.
    Open,
    /// Ask this worker for one of its idle connections.
    Ask(usize),
    /// This limit is reached: close an idle connection of another pool under it, then call [`Pool::want`] again.
    Evict(Limit),
    /// Nothing: the clients can only wait.
    Nothing,
}

/// One worker's part of a pool: `C` names clients, `S` server connections.
///
/// ```text
///        enqueue           release
/// client ──────► queue ──► Serve ◄─────── server connection, opened or given back
///                                 │ no client waits
///                                 ▼
///                               idle ──► expired ──► closed
/// ```
#[derive(Debug)]
pub struct Pool<C, S> {
    ledger: Arc<Ledger>,
    worker: usize,
    settings: PoolSettings,
    database_limit: Option<NonZeroU32>,
    user_limit: Option<NonZeroU32>,
    idle: VecDeque<(S, Micros)>,
    queue: VecDeque<Waiter<C>>,
    opening: u32,
    retry_at: Micros,
    /// How many logins have failed here since the last success.
    failures: u32,
    /// How many logins had succeeded in all workers when the last one failed here.
    logins_at_failure: u64,
}

impl<C: Copy + Eq, S: Copy + Eq> Pool<C, S> {
    /// An empty part for `worker`, without limits of the database and the user.
    #[must_use]
    pub fn new(ledger: Arc<Ledger>, worker: usize, settings: PoolSettings) -> Self {
        Self {
            ledger,
            worker,
            settings,
            database_limit: None,
            user_limit: None,
            idle: VecDeque::new(),
            queue: VecDeque::new(),
            opening: 0,
            retry_at: 0,
            failures: 0,
            logins_at_failure: 0,
        }
    }

    /// Sets new settings and limits.
    pub fn configure(&mut self, settings: PoolSettings, database: Capacity, user: Capacity) {
        self.settings = settings;
        self.database_limit = database.servers;
        self.user_limit = user.servers;
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &PoolSettings {
        &self.settings
    }

    /// What all workers share about this pool.
    #[must_use]
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// The number of idle connections here.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.idle.len()
    }

    /// The number of clients that wait here.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The number of connections that are being opened here.
    #[must_use]
    pub fn opening(&self) -> u32 {
        self.opening
    }

    /// Takes the idle connection to use next, and since when it was idle. `None` if there is none, or if clients wait.
    #[inline]
    pub fn take_idle(&mut self) -> Option<(S, Micros)> {
        if !self.queue.is_empty() {
            return None;
        }
        self.pop_idle()
    }

    fn pop_idle(&mut self) -> Option<(S, Micros)> {
        let found = if self.settings.round_robin { self.idle.pop_front() } else { self.idle.pop_back() };
        if found.is_some() {
            self.report_idle();
        }
        found
    }

    /// Takes the connection that was idle longest, to close it or to give it to another worker.
    pub fn take_longest_idle(&mut self) -> Option<S> {
        let found = self.idle.pop_front();
        self.report_idle();
        found.map(|(server, _)| server)
    }

    /// Puts a client at the end of the queue. Call [`Pool::want`] afterwards.
    pub fn enqueue(&mut self, client: C, now: Micros) {
        self.queue.push_back(Waiter { client, since: now });
        if self.queue.len() == 1 {
            self.report_waiting();
        }
    }

    /// Takes a client out of the queue, at whatever place it is.
    pub fn leave_queue(&mut self, client: C) {
        if let Some(at) = self.queue.iter().position(|waiter| waiter.client == client) {
            let waiter = self.queue.remove(at);
            if let (0, Some(waiter)) = (at, waiter) {
                self.report_head_left(&waiter);
            }
        }
    }

    /// What must be done for the clients that wait. Call it again after [`Want::Open`] and after an eviction.
    pub fn want(&mut self, now: Micros) -> Want {
        let Some(head) = self.queue.front() else { return Want::Nothing };
        if self.queue.len() <= self.opening as usize || self.in_login_backoff(now) {
            return Want::Nothing;
        }
        let waited_long = now.saturating_sub(head.since) >= micros(self.settings.reserve_timeout);
        let reserve = if waited_long { self.settings.reserve_size } else { 0 };
        let limit = self.settings.size.saturating_add(reserve);
        // If another pool has a claim, the next free place under the limit is for that pool. So this pool counts as full.
        let taken = match self.ledger.limit_of_other_claim(Some(head.since), now) {
            Some(_) => Err(Limit::PoolSize),
            None => self.ledger.try_add_server(limit, self.database_limit, self.user_limit),
        };
        match taken {
            Ok(()) => {
                self.opening += 1;
                Want::Open
            }
            Err(reached) => match (self.ledger.other_worker_with_idle(self.worker), reached) {
                (Some(worker), _) => Want::Ask(worker),
                (None, Limit::PoolSize) => Want::Nothing,
                (None, reached) => Want::Evict(reached),
            },
        }
    }

    /// The limit that forbids another connection now. The pool's own size comes first if its reserve is used up, else last.
    #[must_use]
    pub fn reached_limit(&self) -> Option<Limit> {
        let open = self.ledger.open();
        let size = self.settings.size;
        let limits = [
            (Limit::PoolSize, open >= size.saturating_add(self.settings.reserve_size)),
            (Limit::Database, is_reached(self.ledger.database.servers(), self.database_limit)),
            (Limit::User, is_reached(self.ledger.user.servers(), self.user_limit)),
            (Limit::PoolSize, open >= size),
        ];
        limits.into_iter().find(|(_, reached)| *reached).map(|(limit, _)| limit)
    }

    /// Whether a connection must be opened because of `min_size`. If so, it is already counted as being opened.
    pub fn begin_opening_spare(&mut self, now: Micros) -> bool {
        let wanted = self.ledger.open() < self.settings.min_size.min(self.settings.size);
        if !wanted || self.in_login_backoff(now) || self.ledger.limit_of_other_claim(None, now).is_some() {
            return false;
        }
        let taken = self.ledger.try_add_server(self.settings.min_size, self.database_limit, self.user_limit);
        self.opening += u32::from(taken.is_ok());
        taken.is_ok()
    }

    /// A connection that was being opened is ready. Call [`Pool::release`] next.
    pub fn opened(&mut self) {
        self.opening = self.opening.saturating_sub(1);
        self.retry_at = 0;
        self.failures = 0;
        self.ledger.count_login();
    }

    /// Whether the wait after a failed login is not over, and no login has succeeded since then in any worker.
    fn in_login_backoff(&self, now: Micros) -> bool {
        now < self.retry_at && self.ledger.logins() == self.logins_at_failure
    }

    /// We no longer want a connection that was being opened. The server is not at fault.
    pub fn open_cancelled(&mut self) {
        self.opening = self.opening.saturating_sub(1);
        self.ledger.remove_server();
    }

    /// A connection could not be opened. Returns the clients that must get an error: all in the queue here if the pool has
    /// no other connection that could serve them, otherwise none.
    pub fn open_failed(&mut self, now: Micros) -> Vec<Waiter<C>> {
        self.opening = self.opening.saturating_sub(1);
        self.ledger.remove_server();
        let logins = self.ledger.logins();
        if logins != std::mem::replace(&mut self.logins_at_failure, logins) {
            self.failures = 0;
        }
        let doubled = micros(self.settings.login_retry).saturating_mul(1 << self.failures.min(DOUBLINGS_MAX));
        self.retry_at = now.saturating_add(doubled.min(micros(self.settings.login_retry_max)));
        self.failures = self.failures.saturating_add(1);
        if self.ledger.open() > 0 {
            return Vec::new();
        }
        let failed: Vec<Waiter<C>> = self.queue.drain(..).collect();
        if let Some(first) = failed.first() {
            self.report_head_left(first);
        }
        failed
    }

    /// Whether the pool has no connection, and opens none because a login failed a moment ago.
    #[must_use]
    pub fn cannot_serve(&self, now: Micros) -> bool {
        self.in_login_backoff(now) && self.ledger.open() == 0
    }

    /// A connection became free. Says where it goes.
    #[inline]
    pub fn release(&mut self, server: S, now: Micros) -> Release<C> {
        if let Some(worker) = self.worker_that_waits_longer(now) {
            return Release::Handoff(worker);
        }
        if let Some(waiter) = self.queue.pop_front() {
            self.report_head_left(&waiter);
            return Release::Serve(waiter);
        }
        self.idle.push_back((server, now));
        self.report_idle();
        // Look again, now that other workers can see the idle connection: a worker whose client began to wait between the
        // first look and now saw no idle connection and asked no worker for one.
        if let Some(worker) = self.worker_that_waits_longer(now) {
            self.idle.pop_back();
            self.report_idle();
            return Release::Handoff(worker);
        }
        Release::Idle
    }

    /// Takes the first client out of the queue. It gets a connection that is not free yet.
    pub fn pop_waiter(&mut self) -> Option<Waiter<C>> {
        let waiter = self.queue.pop_front()?;
        self.report_head_left(&waiter);
        Some(waiter)
    }

    fn worker_that_waits_longer(&self, now: Micros) -> Option<usize> {
        if self.ledger.workers() == 1 {
            return None;
        }
        let (worker, since) = self.ledger.longest_waiting_worker(self.worker)?;
        match self.queue.front() {
            Some(own) => {
                let (own, other) = (now.saturating_sub(own.since), now.saturating_sub(since));
                (other > own.saturating_mul(2).saturating_add(HANDOFF_SLACK)).then_some(worker)
            }
            None => Some(worker),
        }
    }

    /// A connection that is on no list of this pool (lent, or just taken off a list) is closed.
    pub fn server_lost(&mut self) {
        self.ledger.remove_server();
    }

    /// Takes a connection off the idle list. False if it was not on the list.
    pub fn remove_idle(&mut self, server: S) -> bool {
        let Some(at) = self.idle.iter().position(|(idle, _)| *idle == server) else { return false };
        self.idle.remove(at);
        self.report_idle();
        true
    }

    /// Whether a connection that was opened at `opened` is too old to be lent again.
    #[must_use]
    pub fn is_too_old(&self, opened: Micros, now: Micros) -> bool {
        self.settings.server_lifetime.is_some_and(|lifetime| has_passed(lifetime, opened, now))
    }

    /// Whether a connection was idle for so long that it must be checked before it is lent again.
    #[must_use]
    pub fn needs_check(&self, idle_since: Micros, now: Micros) -> bool {
        has_passed(self.settings.check_delay, idle_since, now)
    }

    /// Whether the pool has too many connections: a reload made its size smaller, or the reserve is no longer needed.
    #[must_use]
    pub fn exceeds_size(&self) -> bool {
        let reserve = if self.queue.is_empty() { 0 } else { self.settings.reserve_size };
        self.ledger.open() > self.settings.size.saturating_add(reserve)
    }

    /// Whether the pool's database or user has a limit of server connections, which other pools share.
    #[must_use]
    pub fn has_shared_limit(&self) -> bool {
        self.database_limit.is_some() || self.user_limit.is_some()
    }

    /// Raises a claim for the first client of the queue: `limit` forbids a connection for it, and no other pool has an idle
    /// connection that could be closed. The next connection that comes free in another pool is closed for it.
    pub fn claim(&self, limit: Limit, now: Micros) {
        if let Some(head) = self.queue.front() {
            self.ledger.claim(limit, head.since, now);
        }
    }

    /// Whether a client of this pool waits, in any worker, or another pool waits for a place under a shared limit.
    #[must_use]
    pub fn has_demand(&self, now: Micros) -> bool {
        !self.queue.is_empty() || self.ledger.has_waiting_clients() || self.must_close_for_other_pool(now)
    }

    /// Whether a connection that became free must be closed, because the client of another pool waits longer for its place.
    #[must_use]
    pub fn must_close_for_other_pool(&self, now: Micros) -> bool {
        let since = self.queue.front().map(|head| head.since);
        match self.ledger.limit_of_other_claim(since, now) {
            Some(Limit::Database) => is_reached(self.ledger.database.servers(), self.database_limit),
            Some(Limit::User) => is_reached(self.ledger.user.servers(), self.user_limit),
            Some(Limit::PoolSize) | None => false,
        }
    }

    /// Takes a connection off the idle list that was idle too long or is above the size, the one that was idle longest first.
    pub fn pop_expired_idle(&mut self, now: Micros) -> Option<S> {
        let (_, since) = *self.idle.front()?;
        let expired =
            self.settings.server_idle_timeout.is_some_and(|timeout| has_passed(timeout, since, now));
        if (expired && self.ledger.open() > self.settings.min_size) || self.exceeds_size() {
            return self.take_longest_idle();
        }
        None
    }

    /// All idle connections, the one that was idle longest first.
    pub fn idle_servers(&self) -> impl Iterator<Item = S> {
        self.idle.iter().map(|(server, _)| *server)
    }

    /// Takes a client out of the queue that has waited for `query_wait_timeout`.
    pub fn pop_expired_waiter(&mut self, now: Micros) -> Option<Waiter<C>> {
        let head = self.queue.front()?;
        if !self.settings.query_wait_timeout.is_some_and(|timeout| has_passed(timeout, head.since, now)) {
            return None;
        }
        let waiter = self.queue.pop_front()?;
        self.report_head_left(&waiter);
        Some(waiter)
    }

    /// The clients that wait here, the first of the queue first.
    pub fn waiters(&self) -> impl Iterator<Item = &Waiter<C>> {
        self.queue.iter()
    }

    fn report_idle(&self) {
        if self.ledger.workers() > 1 {
            self.ledger.set_idle(self.worker, self.idle.len());
        }
    }

    /// The first client of the queue has left it: brings the ledger up to date.
    fn report_head_left(&self, waiter: &Waiter<C>) {
        self.report_waiting();
        if self.has_shared_limit() {
            self.ledger.withdraw_claim(waiter.since);
        }
    }

    fn report_waiting(&self) {
        if self.ledger.workers() > 1 {
            self.ledger.set_waiting(self.worker, self.queue.front().map_or(0, |waiter| waiter.since.max(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ledgers;

    fn pools(workers: usize, settings: &PoolSettings) -> Vec<Pool<u32, u32>> {
        let ledger = Ledgers::new(workers).take_seat("d", "u", None).expect("there is no limit");
        (0..workers).map(|worker| Pool::new(Arc::clone(&ledger), worker, settings.clone())).collect()
    }

    #[test]
    fn opens_up_to_the_size_and_serves_in_order() {
        let settings = PoolSettings { size: 1, ..PoolSettings::default() };
        let mut pool = pools(1, &settings).remove(0);
        pool.enqueue(1, 10);
        assert_eq!(pool.want(10), Want::Open);
        pool.enqueue(2, 11);
        assert_eq!(pool.want(11), Want::Nothing);
        pool.opened();
        assert_eq!(pool.release(7, 12), Release::Serve(Waiter { client: 1, since: 10 }));
        assert_eq!(pool.release(7, 13), Release::Serve(Waiter { client: 2, since: 11 }));
        assert_eq!(pool.release(7, 14), Release::Idle);
        assert_eq!(pool.take_idle(), Some((7, 14)));
    }

    #[test]
    fn the_reserve_is_used_after_the_reserve_timeout() {
        let settings = PoolSettings { size: 1, reserve_size: 1, ..PoolSettings::default() };
        let mut pool = pools(1, &settings).remove(0);
        pool.enqueue(1, 1);
        assert_eq!(pool.want(1), Want::Open);
        pool.enqueue(2, 1);
        assert_eq!(pool.want(4_000_000), Want::Nothing);
        assert_eq!(pool.want(5_000_001), Want::Open);
    }

    #[test]
    fn a_worker_whose_clients_wait_gets_the_connection() {
        let settings = PoolSettings { size: 1, ..PoolSettings::default() };
        let mut pools = pools(2, &settings);
        pools[0].enqueue(1, 1);
        assert_eq!(pools[0].want(1), Want::Open);
        pools[0].opened();
        assert!(matches!(pools[0].release(7, 2), Release::Serve(_)));
        pools[1].enqueue(2, 3);
        assert_eq!(pools[1].want(3), Want::Nothing);
        assert_eq!(pools[0].release(7, 4), Release::Handoff(1));
        assert!(matches!(pools[1].release(9, 5), Release::Serve(Waiter { client: 2, .. })));
        assert_eq!(pools[1].release(9, 6), Release::Idle);
        pools[0].enqueue(3, 7);
        assert_eq!(pools[0].want(7), Want::Ask(1));
    }

    /// Without this, a TPC-B run (50 clients, 10 connections, 2 workers) moved a connection in two of five transactions.
    #[test]
    fn workers_whose_clients_wait_about_equally_long_exchange_no_connections() {
        let mut pools = pools(2, &PoolSettings { size: 2, ..PoolSettings::default() });
        pools[0].enqueue(1, 30_000);
        pools[1].enqueue(2, 1);
        // The clients have waited for 60 ms and for 90 ms.
        assert!(matches!(pools[0].release(7, 90_000), Release::Serve(_)));
        pools[0].enqueue(3, 50_000);
        // The clients have waited for 40 ms and for more than 82 ms.
        assert_eq!(pools[0].release(7, 90_000), Release::Handoff(1));
        // A worker without waiting clients gives its connection to the other one at once.
        pools[0].leave_queue(3);
        assert_eq!(pools[0].release(8, 2), Release::Handoff(1));
    }

    #[test]
    fn a_claim_ends_when_its_client_no_longer_waits() {
        let ledgers = Ledgers::new(1);
        let mut pools = ["u", "v"].map(|user| {
            let mut pool: Pool<u32, u32> = Pool::new(
                ledgers.take_seat("d", user, None).expect("there is no limit"),
                0,
                PoolSettings::default(),
            );
            pool.configure(
                PoolSettings::default(),
                Capacity { servers: NonZeroU32::new(1), clients: None },
                Capacity::default(),
            );
            pool
        });
        pools[0].enqueue(1, 1);
        assert_eq!(pools[0].want(1), Want::Open);
        pools[0].opened();
        assert!(matches!(pools[0].release(7, 1), Release::Serve(_)));
        for leaves in [true, false] {
            pools[1].enqueue(2, 2);
            assert_eq!(pools[1].want(1_000_000), Want::Evict(Limit::Database));
            pools[1].claim(Limit::Database, 1_000_000);
            assert!(pools[0].must_close_for_other_pool(1_000_000));
            if leaves {
                pools[1].leave_queue(2);
            } else {
                assert!(matches!(pools[1].release(8, 1_000_000), Release::Serve(_)));
            }
            assert!(!pools[0].must_close_for_other_pool(1_000_000), "no client waits any more");
        }
    }

    #[test]
    fn a_failed_login_fails_waiting_clients_if_the_pool_has_no_other_connection() {
        let settings = PoolSettings { size: 2, ..PoolSettings::default() };
        let mut pool = pools(1, &settings).remove(0);
        pool.enqueue(1, 1);
        assert_eq!(pool.want(1), Want::Open);
        assert_eq!(pool.open_failed(5).len(), 1);
        assert!(pool.cannot_serve(6));
        pool.enqueue(2, 6);
        assert_eq!(pool.want(6), Want::Nothing);
        assert_eq!(pool.want(1_000_006), Want::Open);
        assert_eq!(pool.ledger().open(), 1);
        assert_eq!(pool.open_failed(2_000_000).len(), 1);
        assert!(pool.cannot_serve(3_999_999), "the second failure waits twice as long");
        assert!(!pool.cannot_serve(4_000_000));
    }

    #[test]
    fn a_login_in_another_worker_ends_the_wait_after_a_failed_one() {
        let mut pools = pools(2, &PoolSettings { size: 1, ..PoolSettings::default() });
        for failed_at in [5, 1_000_005] {
            pools[0].enqueue(1, failed_at);
            assert_eq!(pools[0].want(failed_at), Want::Open);
            pools[0].open_failed(failed_at);
        }
        assert!(pools[0].cannot_serve(2_000_000));
        pools[1].enqueue(2, 2_000_000);
        assert_eq!(pools[1].want(2_000_000), Want::Open);
        pools[1].opened();
        assert!(matches!(pools[1].release(7, 2_000_000), Release::Serve(_)));
        pools[1].server_lost();
        pools[0].enqueue(3, 2_000_001);
        assert!(!pools[0].cannot_serve(2_000_001));
        assert_eq!(pools[0].want(2_000_001), Want::Open);
        pools[0].open_failed(2_000_001);
        assert!(
            pools[0].cannot_serve(3_000_000) && !pools[0].cannot_serve(3_000_001),
            "it counts as the first failure again"
        );
    }

    #[test]
    fn idle_connections_expire_down_to_the_minimum() {
        let settings = PoolSettings { min_size: 1, ..PoolSettings::default() };
        let mut pool = pools(1, &settings).remove(0);
        for server in [7, 8] {
            pool.enqueue(server, 1);
            assert_eq!(pool.want(1), Want::Open);
            pool.opened();
            assert!(matches!(pool.release(server, 1), Release::Serve(_)));
        }
        assert_eq!((pool.release(7, 1), pool.release(8, 2)), (Release::Idle, Release::Idle));
        assert_eq!(pool.pop_expired_idle(3), None);
        assert_eq!(pool.pop_expired_idle(700_000_000), Some(7));
        pool.server_lost();
        assert_eq!(pool.pop_expired_idle(700_000_000), None);
    }
}
