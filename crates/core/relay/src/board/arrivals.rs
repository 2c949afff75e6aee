//! Those who come in: which worker takes them, and what their logins may take of a round.
//!
//! A login costs more than a turn (a TLS handshake, SCRAM's sums), and thousands can come at once. So those who are in go
//! first. In each round the shell deals with what servers and clients that are in have sent, then with as many logins
//! as [`Board::next_login`] gives, then accepts as many as [`Board::may_accept`] allows. Who is not dealt with keeps its
//! place in line for the next round, and who is not accepted waits in the kernel's backlog.

use std::sync::atomic::Ordering::Relaxed;

use trunkline_pool::Micros;

use super::Board;
use super::kept::arrivals::{
    ACCEPTS_MAX, CLIENTS_BEFORE_NEXT_WORKER, LOGIN_STEPS_MAX, LOGINS_WAITING_MAX, ROUNDS_WITHOUT_ARRIVALS_MAX,
};
use crate::keys::ClientKey;

impl Board {
    /// A client has sent something, or is gone. True: it is to be read now. False: it is logging in, and
    /// [`Board::next_login`] says when.
    pub fn client_ready(&mut self, key: ClientKey) -> bool {
        let Some(login) = self.clients.get_mut(key).and_then(|client| client.login.as_deref_mut()) else {
            return true;
        };
        if !std::mem::replace(&mut login.in_line, true) {
            self.arrivals.line.push_back(key);
        }
        false
    }

    /// Those who are in were dealt with: a round's share for those who come begins. `more`: the kernel has more events
    /// than the round took. False: they are dealt with first.
    #[must_use]
    pub fn begin_arrivals(&mut self, now: Micros, more: bool) -> bool {
        let arrivals = &mut self.arrivals;
        if more && arrivals.put_off < ROUNDS_WITHOUT_ARRIVALS_MAX {
            arrivals.put_off += 1;
            return false;
        }
        (arrivals.began, arrivals.steps, arrivals.accepts, arrivals.put_off) = (now, 0, 0, 0);
        true
    }

    /// The client to be read next of those that are logging in, until this round's share is used up.
    pub fn next_login(&mut self, now: Micros) -> Option<ClientKey> {
        while self.arrivals.steps < LOGIN_STEPS_MAX && !self.arrivals.is_late(now) {
            let key = self.arrivals.line.pop_front()?;
            // Who has left in line was no work.
            let Some(client) = self.clients.get_mut(key) else { continue };
            if let Some(login) = client.login.as_deref_mut() {
                login.in_line = false;
            }
            self.arrivals.steps += 1;
            return Some(key);
        }
        None
    }

    /// Whether one more connection may be accepted in this round; counts it.
    pub fn may_accept(&mut self, now: Micros) -> bool {
        let crowded = self.arrivals.line.len() >= LOGINS_WAITING_MAX || self.arrivals.is_late(now);
        let most = if crowded { 1 } else { ACCEPTS_MAX };
        let may = self.arrivals.accepts < most;
        self.arrivals.accepts += u32::from(may);
        may
    }

    /// Logins in line for the next round.
    #[must_use]
    pub fn logins_waiting(&self) -> usize {
        self.arrivals.line.len()
    }

    /// The worker that is to have a connection which this one has accepted: the first that has few clients, so that few
    /// clients wake few workers, or else this one: the kernel spreads connections over all of them.
    ///
    /// Counts the connection there: the worker that takes it calls [`Board::seat_given_back`] first.
    #[must_use]
    pub fn seat(&self) -> usize {
        let seats = &self.shared.seats;
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

    /// A connection that another worker has accepted is here, or could not be sent there: it was counted on its way.
    pub fn seat_given_back(&self, worker: usize) {
        self.shared.seats[worker].fetch_sub(1, Relaxed);
    }
}
