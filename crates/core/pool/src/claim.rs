//! The claim of the pool whose client waits longest under a limit that pools share.
//!
//! A pool whose connections are never idle would starve the other pools of its database or user. So the pool whose
//! client waits longest raises a claim, and the next connection that comes free in another pool is closed for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::names::{Micros, PoolId};

/// A claim ends if it is not renewed for this long.
const CLAIM_LIFETIME: Micros = 1_000_000;

/// A pool gives up a connection only for a client that has waited longer than its own first client by more than this:
/// the login of a new connection costs more than many turns.
const CLAIM_SLACK: Micros = 250_000;

/// The claim under one shared limit: which pool's client has waited longest for a connection.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    /// The number of the pool, as [`PoolId::to_u64`] gives it.
    pool: AtomicU64,
    /// When that pool's client began to wait.
    since: AtomicU64,
    /// When the claim ends; 0 if there is none.
    until: AtomicU64,
}

impl Claim {
    /// Raises or renews the claim for `pool`, whose client waits since `since`, unless another pool's claim is older.
    pub(crate) fn raise(&self, pool: PoolId, since: Micros, now: Micros) {
        let is_valid = self.until.load(Relaxed) > now;
        let is_other_pool = self.pool.load(Relaxed) != pool.to_u64();
        if is_valid && is_other_pool && self.since.load(Relaxed) <= since {
            return;
        }
        self.pool.store(pool.to_u64(), Relaxed);
        self.since.store(since, Relaxed);
        self.until.store(now + CLAIM_LIFETIME, Relaxed);
    }

    /// Ends the claim if `pool` has raised it: the pool may now open its connection.
    pub(crate) fn settle(&self, pool: PoolId) {
        if self.until.load(Relaxed) != 0 && self.pool.load(Relaxed) == pool.to_u64() {
            self.until.store(0, Relaxed);
        }
    }

    /// Ends the claim if `pool` has raised it for a client that waited since `since`. That client is gone, or it got
    /// another connection.
    pub(crate) fn withdraw(&self, pool: PoolId, since: Micros) {
        if self.since.load(Relaxed) == since {
            self.settle(pool);
        }
    }

    /// Whether another pool has a claim, and its client has waited clearly longer than the first client of `pool`, which
    /// waits since `since` (`None`: no client of `pool` waits).
    pub(crate) fn takes_precedence(&self, pool: PoolId, since: Option<Micros>, now: Micros) -> bool {
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
    fn the_claim_of_the_longest_waiter_holds_until_it_is_settled_withdrawn_or_expired() {
        let claim = Claim::default();
        assert!(!claim.takes_precedence(pool(1), None, 5));
        claim.raise(pool(7), 1_000_000, 2_000_000);
        claim.raise(pool(8), 1_500_000, 2_000_000);
        assert!(claim.takes_precedence(pool(1), None, 2_000_000), "a pool without waiting clients gives way");
        assert!(claim.takes_precedence(pool(1), Some(1_250_001), 2_000_000));
        assert!(!claim.takes_precedence(pool(1), Some(1_250_000), 2_000_000), "the waits differ too little");
        assert!(!claim.takes_precedence(pool(7), None, 2_000_000), "it is the pool's own claim");
        assert!(!claim.takes_precedence(pool(1), None, 3_000_000), "it was not renewed");
        claim.raise(pool(9), 900_000, 2_000_000);
        claim.settle(pool(7));
        assert!(claim.takes_precedence(pool(7), None, 2_000_000), "the claim of pool 9 is not settled");
        claim.settle(pool(9));
        assert!(!claim.takes_precedence(pool(7), None, 2_000_000));
        claim.raise(pool(9), 900_000, 2_000_000);
        claim.withdraw(pool(9), 900_001);
        assert!(
            claim.takes_precedence(pool(7), None, 2_000_000),
            "it was raised for another client of pool 9"
        );
        claim.withdraw(pool(9), 900_000);
        assert!(!claim.takes_precedence(pool(7), None, 2_000_000));
    }
}
