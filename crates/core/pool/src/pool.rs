//! One worker's part of a pool.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::ledger::{Capacity, Ledger, Refused, is_reached};
use crate::names::{Micros, micros, passed};
use crate::settings::PoolSettings;

/// Own waiters are served before another worker's unless that one has waited for twice as long, and this: moving a
/// connection costs more than a turn, so queues that are equal but for chance must not trade connections.
const HANDOFF_SLACK: Micros = 2_000;

/// The wait between failed logins is doubled so often at most: a millisecond has then become hours.
const DOUBLINGS_MAX: u32 = 24;

/// Who waits, since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter<C> {
    /// The client.
    pub client: C,
    /// When it began to wait.
    pub since: Micros,
}

/// Where a server connection goes that came free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release<C> {
    /// To this client, which waited longest.
    Serve(Waiter<C>),
    /// To the worker whose clients wait longer (the connection is off this worker's lists).
    Handoff(usize),
    /// To the idle list.
    Idle,
}

/// What the queue needs that the caller has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Open a connection: it is already counted. Report with [`Pool::opened`] or [`Pool::open_failed`].
    Open,
    /// Ask this worker for one of its idle connections.
    Ask(usize),
    /// Close an idle connection of another pool of the same database or user, then ask again.
    Evict(Refused),
    /// Nothing can be done but wait.
    Nothing,
}

/// One worker's part of a pool: `C` names clients, `S` server connections.
///
/// ```text
///            acquire            opened / release
/// client ──► queue ──► Serve ◄────────────── server
///                                 │ nobody waits
///                                 ▼
///                                idle ──► expired ──► closed
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
    /// Logins that failed since the last that did not.
    failures: u32,
    /// How many had succeeded in all workers when the last one failed here.
    logins_before: u64,
}

impl<C: Copy + Eq, S: Copy + Eq> Pool<C, S> {
    /// An empty part for `worker`.
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
            logins_before: 0,
        }
    }

    /// New settings, after a reload. Connections above a smaller size leave as they come free.
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

    /// What all workers share.
    #[must_use]
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// Idle connections here.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.idle.len()
    }

    /// Clients waiting here.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Connections being opened here.
    #[must_use]
    pub fn opening(&self) -> u32 {
        self.opening
    }

    /// The idle connection to use next, when nobody waits before the asker.
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
            self.tell_idle();
        }
        found
    }

    /// An idle connection to give away: the one unused longest.
    pub fn take_coldest(&mut self) -> Option<S> {
        let found = self.idle.pop_front();
        self.tell_idle();
        found.map(|(server, _)| server)
    }

    /// Puts a client at the end of the queue. Call [`Pool::want`] afterwards.
    pub fn enqueue(&mut self, client: C, now: Micros) {
        self.queue.push_back(Waiter { client, since: now });
        if self.queue.len() == 1 {
            self.tell_waiting();
        }
    }

    /// A client no longer waits.
    pub fn leave_queue(&mut self, client: C) {
        if let Some(at) = self.queue.iter().position(|waiter| waiter.client == client) {
            let waiter = self.queue.remove(at);
            if let (0, Some(waiter)) = (at, waiter) {
                self.tell_gone(&waiter);
            }
        }
    }

    /// What must be done for those who wait. Ask until it says [`Want::Nothing`] or [`Want::Ask`].
    pub fn want(&mut self, now: Micros) -> Want {
        let Some(head) = self.queue.front() else { return Want::Nothing };
        if self.queue.len() <= self.opening as usize || self.must_not_retry(now) {
            return Want::Nothing;
        }
        let waited_long = now.saturating_sub(head.since) >= micros(self.settings.reserve_timeout);
        let reserve = if waited_long { self.settings.reserve_size } else { 0 };
        let limit = self.settings.size.saturating_add(reserve);
        // What comes free under a limit is another pool's that waits longer: as if this pool were full.
        let taken = match self.ledger.claimed_by_another(Some(head.since), now) {
            Some(_) => Err(Refused::PoolSize),
            None => self.ledger.take_server(limit, self.database_limit, self.user_limit),
        };
        match taken {
            Ok(()) => {
                self.opening += 1;
                Want::Open
            }
            Err(refused) => match (self.ledger.idle_elsewhere(self.worker), refused) {
                (Some(worker), _) => Want::Ask(worker),
                (None, Refused::PoolSize) => Want::Nothing,
                (None, refused) => Want::Evict(refused),
            },
        }
    }

    /// The bound, if any, under which another connection could not be opened now. The pool's own comes first where it is
    /// reached with its reserve.
    #[must_use]
    pub fn bound(&self) -> Option<Refused> {
        let open = self.ledger.open();
        let size = self.settings.size;
        let bounds = [
            (Refused::PoolSize, open >= size.saturating_add(self.settings.reserve_size)),
            (Refused::Database, is_reached(self.ledger.database.servers(), self.database_limit)),
            (Refused::User, is_reached(self.ledger.user.servers(), self.user_limit)),
            (Refused::PoolSize, open >= size),
        ];
        bounds.into_iter().find(|(_, reached)| *reached).map(|(bound, _)| bound)
    }

    /// Whether a connection should be opened for `min_size`; it is then counted as being opened.
    pub fn want_spare(&mut self, now: Micros) -> bool {
        let wanted = self.ledger.open() < self.settings.min_size.min(self.settings.size);
        if !wanted || self.must_not_retry(now) || self.ledger.claimed_by_another(None, now).is_some() {
            return false;
        }
        let taken = self.ledger.take_server(self.settings.min_size, self.database_limit, self.user_limit);
        self.opening += u32::from(taken.is_ok());
        taken.is_ok()
    }

    /// A connection that was being opened is ready; follow with [`Pool::release`].
    pub fn opened(&mut self) {
        self.opening = self.opening.saturating_sub(1);
        self.retry_at = 0;
        self.failures = 0;
        self.ledger.count_login();
    }

    /// Whether a login failed a moment ago, and none has succeeded since in any worker.
    fn must_not_retry(&self, now: Micros) -> bool {
        now < self.retry_at && self.ledger.logins() == self.logins_before
    }

    /// A connection that was being opened is given up, through no fault of the server's.
    pub fn open_given_up(&mut self) {
        self.opening = self.opening.saturating_sub(1);
        self.ledger.give_server();
    }

    /// A connection that was being opened failed. Returns the clients to fail: all that wait, when
    /// the pool has no other connection that could ever serve them.
    pub fn open_failed(&mut self, now: Micros) -> Vec<Waiter<C>> {
        self.opening = self.opening.saturating_sub(1);
        self.ledger.give_server();
        let logins = self.ledger.logins();
        if logins != std::mem::replace(&mut self.logins_before, logins) {
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
            self.tell_gone(first);
        }
        failed
    }

    /// Whether logins failed a moment ago and nothing is there that could serve.
    #[must_use]
    pub fn out_of_order(&self, now: Micros) -> bool {
        self.must_not_retry(now) && self.ledger.open() == 0
    }

    /// A connection is free: says where it goes.
    #[inline]
    pub fn release(&mut self, server: S, now: Micros) -> Release<C> {
        if let Some(worker) = self.starving_worker(now) {
            return Release::Handoff(worker);
        }
        if let Some(waiter) = self.queue.pop_front() {
            self.tell_gone(&waiter);
            return Release::Serve(waiter);
        }
        self.idle.push_back((server, now));
        self.tell_idle();
        // Asked again now that the connection can be seen: a worker that began to wait in between
        // saw no idle connection and asked nobody.
        if let Some(worker) = self.starving_worker(now) {
            self.idle.pop_back();
            self.tell_idle();
            return Release::Handoff(worker);
        }
        Release::Idle
    }

    /// Takes the first that waits here: it gets a connection that is not free yet.
    pub fn take_waiter(&mut self) -> Option<Waiter<C>> {
        let waiter = self.queue.pop_front()?;
        self.tell_gone(&waiter);
        Some(waiter)
    }

    fn starving_worker(&self, now: Micros) -> Option<usize> {
        if self.ledger.workers() == 1 {
            return None;
        }
        let (worker, since) = self.ledger.starving_elsewhere(self.worker)?;
        match self.queue.front() {
            Some(own) => {
                let (own, other) = (now.saturating_sub(own.since), now.saturating_sub(since));
                (other > own.saturating_mul(2).saturating_add(HANDOFF_SLACK)).then_some(worker)
            }
            None => Some(worker),
        }
    }

    /// A connection on no list of this pool (in use, or just taken) is gone.
    pub fn lost(&mut self) {
        self.ledger.give_server();
    }

    /// An idle connection died or must go: takes it off the list. False when it was not on it.
    pub fn remove_idle(&mut self, server: S) -> bool {
        let Some(at) = self.idle.iter().position(|(idle, _)| *idle == server) else { return false };
        self.idle.remove(at);
        self.tell_idle();
        true
    }

    /// Whether a connection of that age may not serve again.
    #[must_use]
    pub fn too_old(&self, opened: Micros, now: Micros) -> bool {
        self.settings.server_lifetime.is_some_and(|lifetime| passed(lifetime, opened, now))
    }

    /// Whether a connection must prove that it lives before it serves again.
    #[must_use]
    pub fn check_due(&self, idle_since: Micros, now: Micros) -> bool {
        passed(self.settings.check_delay, idle_since, now)
    }

    /// Whether more connections exist than the settings allow (after a reload made them fewer, or
    /// when the reserve is no longer needed).
    #[must_use]
    pub fn over_size(&self) -> bool {
        let reserve = if self.queue.is_empty() { 0 } else { self.settings.reserve_size };
        self.ledger.open() > self.settings.size.saturating_add(reserve)
    }

    /// Whether its connections count against a limit that other pools share.
    #[must_use]
    pub fn has_shared_limit(&self) -> bool {
        self.database_limit.is_some() || self.user_limit.is_some()
    }

    /// Nobody has an idle connection to close for this pool's first waiter, which `refused` denies one: the next that
    /// comes free in another pool is.
    pub fn claim(&self, refused: Refused, now: Micros) {
        if let Some(head) = self.queue.front() {
            self.ledger.claim(refused, head.since, now);
        }
    }

    /// Whether somebody waits for a connection of this pool, in whichever worker, or for its place.
    #[must_use]
    pub fn is_wanted(&self, now: Micros) -> bool {
        !self.queue.is_empty() || self.ledger.is_starving() || self.must_yield(now)
    }

    /// Whether a connection that came free must be closed so that another pool, which waits longer, can open one.
    #[must_use]
    pub fn must_yield(&self, now: Micros) -> bool {
        let since = self.queue.front().map(|head| head.since);
        match self.ledger.claimed_by_another(since, now) {
            Some(Refused::Database) => is_reached(self.ledger.database.servers(), self.database_limit),
            Some(Refused::User) => is_reached(self.ledger.user.servers(), self.user_limit),
            Some(Refused::PoolSize) | None => false,
        }
    }

    /// Takes one idle connection off the list that was idle too long, coldest first.
    pub fn expired_idle(&mut self, now: Micros) -> Option<S> {
        let (_, since) = *self.idle.front()?;
        let expired = self.settings.server_idle_timeout.is_some_and(|timeout| passed(timeout, since, now));
        if (expired && self.ledger.open() > self.settings.min_size) || self.over_size() {
            return self.take_coldest();
        }
        None
    }

    /// All idle connections, to look at their age.
    pub fn idle_servers(&self) -> impl Iterator<Item = S> {
        self.idle.iter().map(|(server, _)| *server)
    }

    /// Takes one waiter off the queue that waited longer than `query_wait_timeout`.
    pub fn expired_waiter(&mut self, now: Micros) -> Option<Waiter<C>> {
        let head = self.queue.front()?;
        if !self.settings.query_wait_timeout.is_some_and(|timeout| passed(timeout, head.since, now)) {
            return None;
        }
        let waiter = self.queue.pop_front()?;
        self.tell_gone(&waiter);
        Some(waiter)
    }

    /// All who wait, longest first.
    pub fn waiters(&self) -> impl Iterator<Item = &Waiter<C>> {
        self.queue.iter()
    }

    fn tell_idle(&self) {
        if self.ledger.workers() > 1 {
            self.ledger.set_idle(self.worker, self.idle.len());
        }
    }

    /// The first of the queue has left it.
    fn tell_gone(&self, waiter: &Waiter<C>) {
        self.tell_waiting();
        if self.has_shared_limit() {
            self.ledger.withdraw_claim(waiter.since);
        }
    }

    fn tell_waiting(&self) {
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
        let ledger = Ledgers::new(workers).enter("d", "u", None).expect("there is no bound");
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
    fn the_reserve_is_for_those_who_waited() {
        let settings = PoolSettings { size: 1, reserve_size: 1, ..PoolSettings::default() };
        let mut pool = pools(1, &settings).remove(0);
        pool.enqueue(1, 1);
        assert_eq!(pool.want(1), Want::Open);
        pool.enqueue(2, 1);
        assert_eq!(pool.want(4_000_000), Want::Nothing);
        assert_eq!(pool.want(5_000_001), Want::Open);
    }

    #[test]
    fn a_starving_worker_gets_the_connection() {
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

    /// A TPC-B run of 50 clients, 10 connections and 2 workers moved a connection in two of five transactions.
    #[test]
    fn queues_that_are_equal_but_for_chance_trade_no_connections() {
        let mut pools = pools(2, &PoolSettings { size: 2, ..PoolSettings::default() });
        pools[0].enqueue(1, 30_000);
        pools[1].enqueue(2, 1);
        // They have waited for 60 ms and for 90 ms.
        assert!(matches!(pools[0].release(7, 90_000), Release::Serve(_)));
        pools[0].enqueue(3, 50_000);
        // For 40 ms, and for more than 82.
        assert_eq!(pools[0].release(7, 90_000), Release::Handoff(1));
        // Whose queue is empty keeps nothing back.
        pools[0].leave_queue(3);
        assert_eq!(pools[0].release(8, 2), Release::Handoff(1));
    }

    #[test]
    fn a_claim_ends_with_the_wait_it_was_made_for() {
        let ledgers = Ledgers::new(1);
        let mut pools = ["u", "v"].map(|user| {
            let mut pool: Pool<u32, u32> = Pool::new(
                ledgers.enter("d", user, None).expect("there is no bound"),
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
            assert_eq!(pools[1].want(1_000_000), Want::Evict(Refused::Database));
            pools[1].claim(Refused::Database, 1_000_000);
            assert!(pools[0].must_yield(1_000_000));
            if leaves {
                pools[1].leave_queue(2);
            } else {
                assert!(matches!(pools[1].release(8, 1_000_000), Release::Serve(_)));
            }
            assert!(!pools[0].must_yield(1_000_000), "nobody waits for it any more");
        }
    }

    #[test]
    fn a_failed_login_fails_those_whom_nothing_else_can_serve() {
        let settings = PoolSettings { size: 2, ..PoolSettings::default() };
        let mut pool = pools(1, &settings).remove(0);
        pool.enqueue(1, 1);
        assert_eq!(pool.want(1), Want::Open);
        assert_eq!(pool.open_failed(5).len(), 1);
        assert!(pool.out_of_order(6));
        pool.enqueue(2, 6);
        assert_eq!(pool.want(6), Want::Nothing);
        assert_eq!(pool.want(1_000_006), Want::Open);
        assert_eq!(pool.ledger().open(), 1);
        assert_eq!(pool.open_failed(2_000_000).len(), 1);
        assert!(pool.out_of_order(3_999_999), "the second failure waits twice as long");
        assert!(!pool.out_of_order(4_000_000));
    }

    #[test]
    fn a_login_in_another_worker_ends_the_wait_after_a_failed_one() {
        let mut pools = pools(2, &PoolSettings { size: 1, ..PoolSettings::default() });
        for failed_at in [5, 1_000_005] {
            pools[0].enqueue(1, failed_at);
            assert_eq!(pools[0].want(failed_at), Want::Open);
            pools[0].open_failed(failed_at);
        }
        assert!(pools[0].out_of_order(2_000_000));
        pools[1].enqueue(2, 2_000_000);
        assert_eq!(pools[1].want(2_000_000), Want::Open);
        pools[1].opened();
        assert!(matches!(pools[1].release(7, 2_000_000), Release::Serve(_)));
        pools[1].lost();
        pools[0].enqueue(3, 2_000_001);
        assert!(!pools[0].out_of_order(2_000_001));
        assert_eq!(pools[0].want(2_000_001), Want::Open);
        pools[0].open_failed(2_000_001);
        assert!(
            pools[0].out_of_order(3_000_000) && !pools[0].out_of_order(3_000_001),
            "it is the first again"
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
        assert_eq!(pool.expired_idle(3), None);
        assert_eq!(pool.expired_idle(700_000_000), Some(7));
        pool.lost();
        assert_eq!(pool.expired_idle(700_000_000), None);
    }
}
