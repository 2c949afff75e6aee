//! The queue of clients that are logging in, and how much of a round logins and new connections may use.

use std::collections::VecDeque;

use trunkline_pool::Micros;

use crate::keys::ClientKey;

/// How many logins are continued in one round at most, each by one read.
pub const LOGIN_STEPS_MAX: u32 = 8;
/// After this many microseconds, a round continues no more logins and accepts at most one connection.
pub const ARRIVALS_MICROS_MAX: Micros = 100;
/// How many connections are accepted in one round at most.
pub const ACCEPTS_MAX: u32 = 4;
/// In how many rounds in a row logins and new connections may get nothing. This happens when the kernel has more events than
/// fit into a round: the others may be of clients that are logged in.
pub const ROUNDS_WITHOUT_ARRIVALS_MAX: u32 = 16;
/// If this many logins wait, a round accepts only one connection: more would only wait here instead of in the kernel. It is
/// not zero, so that logins that never end do not keep new clients out.
pub const LOGINS_WAITING_MAX: usize = 64;
/// A worker gets this many clients before the next worker gets any. A worker that wakes up for one message of one client
/// costs more than a worker that finds several messages.
pub const CLIENTS_BEFORE_NEXT_WORKER: u32 = 16;

/// The queue of logins, and how much of the round's share is used.
#[derive(Debug, Default)]
pub(in crate::board) struct Arrivals {
    /// Clients that are logging in and have sent something, each once. Some may be gone.
    pub(in crate::board) queue: VecDeque<ClientKey>,
    /// When the round's share began.
    pub(in crate::board) began: Micros,
    pub(in crate::board) steps: u32,
    pub(in crate::board) accepts: u32,
    /// The number of rounds since logins and new connections last had a share.
    pub(in crate::board) rounds_put_off: u32,
}

impl Arrivals {
    pub(in crate::board) fn is_time_used(&self, now: Micros) -> bool {
        now.saturating_sub(self.began) >= ARRIVALS_MICROS_MAX
    }
}
