//! Too many connections, too many messages, too long messages, too slow peers.

mod connections;
mod messages;
mod streams;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// These tests hold thousands of sockets or send hundreds of megabytes: one at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // After a failed test the lock is poisoned, but nothing is left that could affect the next test.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
