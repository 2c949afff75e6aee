//! The parameters that servers have reported at login, for all workers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use trunkline_pool::{Ledger, PoolId};

use crate::welcome::Welcome;

/// What servers have reported, by pool. A worker that has no server connection yet can let clients in with the parameters that
/// another worker has learnt, and need not open a connection first.
#[derive(Debug, Default)]
pub(crate) struct Welcomes {
    known: Mutex<HashMap<PoolId, KnownWelcome>>,
}

#[derive(Debug)]
struct KnownWelcome {
    /// Proves that the pool still exists.
    ledger: Weak<Ledger>,
    epoch: u64,
    welcome: Arc<Welcome>,
}

impl Welcomes {
    /// Keeps what a server of this pool has reported, under the settings of `epoch`. There is at most one entry for each pool:
    /// entries of forgotten pools are dropped from time to time.
    pub(in crate::board) fn set(&self, ledger: &Arc<Ledger>, epoch: u64, welcome: &Arc<Welcome>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(&ledger.id) && known.len().is_power_of_two() {
            known.retain(|_, pool| pool.ledger.strong_count() > 0);
        }
        let said = KnownWelcome { ledger: Arc::downgrade(ledger), epoch, welcome: Arc::clone(welcome) };
        known.insert(ledger.id, said);
    }

    pub(in crate::board) fn find(&self, ledger: &Arc<Ledger>, epoch: u64) -> Option<Arc<Welcome>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = known.get(&ledger.id).filter(|pool| pool.epoch == epoch)?;
        Weak::ptr_eq(&pool.ledger, &Arc::downgrade(ledger)).then(|| Arc::clone(&pool.welcome))
    }
}
