//! Waits for events, not for time.

use std::time::Duration;

use mio::event::Source;
use mio::{Events, Interest, Poll, Token};

/// Ends a test that hangs. No test depends on its length.
const PATIENCE: Duration = Duration::from_secs(120);

/// Tries again after each event of the source, until there is a result. Edge-triggered, as in the workers.
pub(crate) fn until<S: Source, T>(source: &mut S, mut attempt: impl FnMut(&mut S) -> Option<T>) -> T {
    let mut poll = Poll::new().expect("poll");
    let mut events = Events::with_capacity(4);
    poll.registry().register(source, Token(0), Interest::READABLE | Interest::WRITABLE).expect("registered");
    loop {
        if let Some(result) = attempt(source) {
            poll.registry().deregister(source).expect("deregistered");
            return result;
        }
        poll.poll(&mut events, Some(PATIENCE)).expect("poll");
        assert!(!events.is_empty(), "waited in vain");
    }
}
