//! Too many, too slow, too long: what comes in numbers or in megabytes.

mod connections;
mod messages;
mod streams;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// These tests hold thousands of sockets or send hundreds of megabytes: one at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing that the next could trip over.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
