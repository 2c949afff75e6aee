//! New clients: which worker takes them, and how much of a round their logins may use.
//!
//! A login costs more than a turn (a TLS handshake, the hashes of SCRAM), and thousands of clients can come at once. So
//! clients that are logged in come first. In each round the shell handles the bytes of servers and of logged-in clients,
//! then as many logins as [`Board::next_login`] gives, and then accepts as many connections as [`Board::may_accept`] allows.
//! The other logins keep their place in the queue for the next round, and the other connections wait in the kernel's
//! backlog.

use std::sync::atomic::Ordering::Relaxed;

use trunkline_pool::Micros;

use super::Board;
use super::kept::arrivals::{
    ACCEPTS_MAX, CLIENTS_BEFORE_NEXT_WORKER, LOGIN_STEPS_MAX, LOGINS_WAITING_MAX, ROUNDS_WITHOUT_ARRIVALS_MAX,
};
use crate::keys::ClientKey;

impl Board {
    /// A client has sent something, or is gone. True if the shell must read from it now. False if the client is logging in:
    /// then [`Board::next_login`] says when to read.
    pub fn client_ready(&mut self, key: ClientKey) -> bool {
        let Some(login) = self.clients.get_mut(key).and_then(|client| client.login.as_deref_mut()) else {
            return true;
        };
        if !std::mem::replace(&mut login.waits_for_share, true) {
            self.arrivals.queue.push_back(key);
        }
        false
    }

    /// Call this when the events of servers and of logged-in clients are handled. True: the round's share for logins and new
    /// connections begins. False: the shell must handle the kernel's other events first; `more` says that there are some.
    #[must_use]
    pub fn begin_arrivals(&mut self, now: Micros, more: bool) -> bool {
        let arrivals = &mut self.arrivals;
        if more && arrivals.rounds_put_off < ROUNDS_WITHOUT_ARRIVALS_MAX {
            arrivals.rounds_put_off += 1;
            return false;
        }
        (arrivals.began, arrivals.steps, arrivals.accepts, arrivals.rounds_put_off) = (now, 0, 0, 0);
        true
    }

    /// The next client that is logging in and must be read, until this round's share is used up.
    pub fn next_login(&mut self, now: Micros) -> Option<ClientKey> {
        while self.arrivals.steps < LOGIN_STEPS_MAX && !self.arrivals.is_time_used(now) {
            let key = self.arrivals.queue.pop_front()?;
            // A client that has left does not count.
            let Some(client) = self.clients.get_mut(key) else { continue };
            if let Some(login) = client.login.as_deref_mut() {
                login.waits_for_share = false;
            }
            self.arrivals.steps += 1;
            return Some(key);
        }
        None
    }

    /// Whether one more connection may be accepted in this round; counts it.
    pub fn may_accept(&mut self, now: Micros) -> bool {
        let crowded = self.arrivals.queue.len() >= LOGINS_WAITING_MAX || self.arrivals.is_time_used(now);
        let most = if crowded { 1 } else { ACCEPTS_MAX };
        let may = self.arrivals.accepts < most;
        self.arrivals.accepts += u32::from(may);
        may
    }

    /// The number of logins that wait for the next round.
    #[must_use]
    pub fn logins_waiting(&self) -> usize {
        self.arrivals.queue.len()
    }

    /// Chooses the worker for a connection that this worker has accepted: the first worker that has few clients, so that few
    /// clients wake few workers. If all have many, it is this worker: the kernel spreads connections over all workers.
    ///
    /// If it is another worker, the connection is counted there until [`Board::end_assignment`] is called.
    #[must_use]
    pub fn assign_worker(&self) -> usize {
        let seats = &self.shared.clients_by_worker;
        let worker = seats
            .iter()
            .position(|taken| taken.load(Relaxed) < CLIENTS_BEFORE_NEXT_WORKER)
            .unwrap_or(self.worker);
        if worker != self.worker {
            seats[worker].fetch_add(1, Relaxed);
        }
        worker
    }

    /// This worker's number.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// No longer counts a connection that was being sent to `worker`: it has arrived there, or could not be sent.
    pub fn end_assignment(&self, worker: usize) {
        self.shared.clients_by_worker[worker].fetch_sub(1, Relaxed);
    }
}
