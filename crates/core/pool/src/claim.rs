//! Who waits longest under a limit that pools share.
//!
//! A pool whose connections are never idle would starve the others of its database or user. So the one whose client
//! waits longest raises a claim, and the next connection that comes free elsewhere is closed for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::names::{Micros, PoolId};

/// A claim that is not renewed for so long has been given up.
const CLAIM_LIFE: Micros = 1_000_000;

/// A pool gives a connection up for another that waits longer by this: a login costs more than many turns.
const CLAIM_SLACK: Micros = 250_000;

/// Which pool waits longest for a connection that a shared limit denies it.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    /// Its number, as one.
    pool: AtomicU64,
    since: AtomicU64,
    /// Until when it counts; 0: there is none.
    until: AtomicU64,
}

impl Claim {
    /// Stands for `pool`, whose client waits since `since`, unless another waits longer.
    pub(crate) fn raise(&self, pool: PoolId, since: Micros, now: Micros) {
        let stands = self.until.load(Relaxed) > now;
        let other = self.pool.load(Relaxed) != pool.to_u64();
        if stands && other && self.since.load(Relaxed) <= since {
            return;
        }
        self.pool.store(pool.to_u64(), Relaxed);
        self.since.store(since, Relaxed);
        self.until.store(now + CLAIM_LIFE, Relaxed);
    }

    /// `pool` has got what it waited for.
    pub(crate) fn settle(&self, pool: PoolId) {
        if self.until.load(Relaxed) != 0 && self.pool.load(Relaxed) == pool.to_u64() {
            self.until.store(0, Relaxed);
        }
    }

    /// The client of `pool` that waited since `since` waits no more: it was served otherwise, or is gone.
    pub(crate) fn withdraw(&self, pool: PoolId, since: Micros) {
        if self.since.load(Relaxed) == since {
            self.settle(pool);
        }
    }

    /// Whether another pool waits longer than `pool`, whose first client waits since `since`.
    pub(crate) fn is_before(&self, pool: PoolId, since: Option<Micros>, now: Micros) -> bool {
        self.until.load(Relaxed) > now
            && self.pool.load(Relaxed) != pool.to_u64()
            && since.is_none_or(|since| since > self.since.load(Relaxed).saturating_add(CLAIM_SLACK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(place: u32) -> PoolId {
        PoolId::first(place)
    }

    #[test]
    fn the_longest_waiter_s_claim_stands_until_it_is_settled_or_given_up() {
        let claim = Claim::default();
        assert!(!claim.is_before(pool(1), None, 5));
        claim.raise(pool(7), 1_000_000, 2_000_000);
        claim.raise(pool(8), 1_500_000, 2_000_000);
        assert!(claim.is_before(pool(1), None, 2_000_000), "a pool in which nobody waits yields");
        assert!(claim.is_before(pool(1), Some(1_250_001), 2_000_000));
        assert!(!claim.is_before(pool(1), Some(1_250_000), 2_000_000), "the other does not wait much longer");
        assert!(!claim.is_before(pool(7), None, 2_000_000), "it is one's own");
        assert!(!claim.is_before(pool(1), None, 3_000_000), "it was not renewed");
        claim.raise(pool(9), 900_000, 2_000_000);
        claim.settle(pool(7));
        assert!(claim.is_before(pool(7), None, 2_000_000), "another one's claim is not settled");
        claim.settle(pool(9));
        assert!(!claim.is_before(pool(7), None, 2_000_000));
        claim.raise(pool(9), 900_000, 2_000_000);
        claim.withdraw(pool(9), 900_001);
        assert!(claim.is_before(pool(7), None, 2_000_000), "another client of that pool made it");
        claim.withdraw(pool(9), 900_000);
        assert!(!claim.is_before(pool(7), None, 2_000_000));
    }
}
