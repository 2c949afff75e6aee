//! The line of clients that log in, and how much of a round is theirs.

use std::collections::VecDeque;

use trunkline_pool::Micros;

use crate::keys::ClientKey;

/// Logins that are taken a step further in one round, at most.
pub const LOGIN_STEPS_MAX: u32 = 8;
/// Microseconds of a round after which no further login is taken up and nobody else accepted.
pub const ARRIVALS_MICROS_MAX: Micros = 100;
/// Connections accepted in one round, at most.
pub const ACCEPTS_MAX: u32 = 4;
/// Rounds in a row in which those who come may get nothing, because the kernel has more events than a round takes: what
/// those who are in have sent may be among them.
pub const ROUNDS_WITHOUT_ARRIVALS_MAX: u32 = 16;
/// With this many logins in line one connection is accepted in a round: more would only change the place where they
/// wait. One, so that logins which go on for ever keep nobody out.
pub const LOGINS_WAITING_MAX: usize = 64;
/// This many clients share a worker before others are woken for more: a worker that wakes for one client's message at a
/// time costs more than one that finds several.
pub const CLIENTS_BEFORE_NEXT_WORKER: u32 = 16;

/// The line, and what is left of this round's share.
#[derive(Debug, Default)]
pub(in crate::board) struct Arrivals {
    /// Clients that are logging in and have sent something, each once; some may be gone.
    pub(in crate::board) line: VecDeque<ClientKey>,
    pub(in crate::board) began: Micros,
    pub(in crate::board) steps: u32,
    pub(in crate::board) accepts: u32,
    pub(in crate::board) put_off: u32,
}

impl Arrivals {
    pub(in crate::board) fn is_late(&self, now: Micros) -> bool {
        now.saturating_sub(self.began) >= ARRIVALS_MICROS_MAX
    }
}
