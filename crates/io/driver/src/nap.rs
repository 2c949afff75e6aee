//! When not to be woken for each answer.
//!
//! A server sends each query's answer by itself. A client that is faster is woken for every one of them, which costs more than
//! all that it does with it. So while the server has many turns before it, the connection is looked at once a millisecond.
//! That is done only as long as what is under way lasts for several naps: the server never waits for it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use crate::dispatch::Dispatcher;

/// The least that the runtime's clock knows.
const NAP: Duration = Duration::from_millis(1);
/// Fewer turns under way than this are waited for.
const TURNS_MIN: usize = 256;
/// How many naps what is under way must last for, by what was answered during the last one.
const NAPS_AHEAD: u64 = 4;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Nap {
    sleep: Option<Pin<Box<Sleep>>>,
    /// Turns that were over when it began.
    over_before: u64,
    /// Turns that were answered during the last one.
    answered: u64,
}

impl Nap {
    /// Whether there is enough under way for a nap.
    pub(crate) fn is_worthwhile(&self, dispatcher: &Dispatcher) -> bool {
        let turns = dispatcher.turns();
        turns >= TURNS_MIN && turns as u64 >= self.answered.saturating_mul(NAPS_AHEAD)
    }

    /// One is over, and what came meanwhile is dealt with.
    pub(crate) fn end(&mut self, dispatcher: &Dispatcher) {
        self.answered = dispatcher.turns_over() - self.over_before;
    }

    /// Begins one.
    pub(crate) fn begin(&mut self, dispatcher: &Dispatcher) {
        self.over_before = dispatcher.turns_over();
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(Instant::now() + NAP),
            None => self.sleep = Some(Box::pin(sleep(NAP))),
        }
    }

    /// Whether it is over; the task is woken when it is.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().map_or(Poll::Ready(()), |sleep| sleep.as_mut().poll(cx))
    }
}
