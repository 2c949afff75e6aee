//! Limits the look-ups in databases that are not known to exist: how many run at once, and how many begin per second.
//!
//! The names of these databases come from clients that have not logged in. Each such look-up opens a server connection,
//! perhaps only to learn that the database does not exist.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};

use trunkline_pool::Micros;

use crate::directory::UnprovenLookUps;

const SECOND: Micros = 1_000_000;

/// Gives the permits for such look-ups, to all workers.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// How many permits are in use.
    pub(in crate::board) under_way: Arc<AtomicU32>,
    /// When the next look-up would begin if look-ups began at equal intervals.
    due: Mutex<Micros>,
}

/// The permit for one look-up. It is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<AtomicU32>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Gate {
    /// Gives a permit, unless too many look-ups run or have begun. All look-ups of a second may begin at the same time.
    pub(crate) fn enter(&self, bounds: UnprovenLookUps, now: Micros) -> Option<Permit> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        // The clock starts near 0: with a second added, a whole second's look-ups may begin right after the start too.
        let now = now.saturating_add(SECOND);
        let step = SECOND / Micros::from(bounds.per_second.max(1));
        let next = (*due).max(now.saturating_sub(SECOND)) + step;
        if next > now || self.under_way.load(SeqCst) >= bounds.at_once {
            return None;
        }
        *due = next;
        self.under_way.fetch_add(1, SeqCst);
        Some(Permit(Arc::clone(&self.under_way)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn both_limits_hold() {
        let gate = Gate::default();
        let bounds = UnprovenLookUps { at_once: 3, per_second: 10 };
        let now = 5 * SECOND;
        let permits: Vec<Permit> = std::iter::from_fn(|| gate.enter(bounds, now)).collect();
        assert_eq!((permits.len(), gate.under_way.load(Relaxed)), (3, 3));
        drop(permits);
        assert_eq!(gate.under_way.load(Relaxed), 0);
        let rest = std::iter::from_fn(|| gate.enter(bounds, now)).count();
        assert_eq!(rest, 7, "ten in a second");
        assert!(gate.enter(bounds, now + SECOND / 10 - 1).is_none());
        assert!(gate.enter(bounds, now + SECOND / 10).is_some());
        assert!(gate.enter(bounds, now + SECOND / 10).is_none());
        let later = now + 3600 * SECOND;
        assert_eq!(
            std::iter::from_fn(|| gate.enter(bounds, later)).count(),
            10,
            "after an hour too, only the look-ups of one second may begin at once"
        );
    }

    #[test]
    fn with_none_allowed_at_once_there_is_no_permit() {
        assert!(Gate::default().enter(UnprovenLookUps { at_once: 0, per_second: 10 }, 9 * SECOND).is_none());
    }
}
