//! Look-ups in databases that nobody knows to exist: how many at once, and how many in a second.
//!
//! The names of such databases come from people who have not logged in. Each look-up is a connection to a server, which
//! may do no more than say that there is no such database.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use trunkline_pool::Micros;

use crate::directory::UnprovenLookUps;

const SECOND: Micros = 1_000_000;

/// All workers' look-ups.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    pub(in crate::board) inside: Arc<AtomicU32>,
    /// When the next would be due, were they to come evenly.
    due: Mutex<Micros>,
}

/// Leave for one look-up, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Pass(Arc<AtomicU32>);

impl Drop for Pass {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Gate {
    /// Lets one look-up through, unless there are too many. A second's worth may come at once.
    pub(crate) fn enter(&self, bounds: UnprovenLookUps, now: Micros) -> Option<Pass> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        // The first second of a process is as good as any other.
        let now = now.saturating_add(SECOND);
        let step = SECOND / Micros::from(bounds.per_second.max(1));
        let next = (*due).max(now.saturating_sub(SECOND)) + step;
        if next > now || self.inside.load(SeqCst) >= bounds.at_once {
            return None;
        }
        *due = next;
        self.inside.fetch_add(1, SeqCst);
        Some(Pass(Arc::clone(&self.inside)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn so_many_at_once_and_so_many_in_a_second() {
        let gate = Gate::default();
        let bounds = UnprovenLookUps { at_once: 3, per_second: 10 };
        let now = 5 * SECOND;
        let passes: Vec<Pass> = std::iter::from_fn(|| gate.enter(bounds, now)).collect();
        assert_eq!((passes.len(), gate.inside.load(Relaxed)), (3, 3));
        drop(passes);
        assert_eq!(gate.inside.load(Relaxed), 0);
        let rest = std::iter::from_fn(|| gate.enter(bounds, now)).count();
        assert_eq!(rest, 7, "ten in a second");
        assert!(gate.enter(bounds, now + SECOND / 10 - 1).is_none());
        assert!(gate.enter(bounds, now + SECOND / 10).is_some());
        assert!(gate.enter(bounds, now + SECOND / 10).is_none());
        let later = now + 3600 * SECOND;
        assert_eq!(std::iter::from_fn(|| gate.enter(bounds, later)).count(), 10, "an hour saves up no more");
    }

    #[test]
    fn none_at_once_is_none() {
        assert!(Gate::default().enter(UnprovenLookUps { at_once: 0, per_second: 10 }, 9 * SECOND).is_none());
    }
}
