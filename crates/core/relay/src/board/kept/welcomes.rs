//! What all workers know of servers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use trunkline_pool::{Ledger, PoolId};

use crate::welcome::Welcome;

/// What all workers' pools have learnt: a worker that has no server connection yet welcomes clients with what another
/// knows, without waiting for a connection.
#[derive(Debug, Default)]
pub(crate) struct Welcomes {
    known: Mutex<HashMap<PoolId, Known>>,
}

#[derive(Debug)]
struct Known {
    /// A number may be given to another pool once this one is forgotten.
    ledger: Weak<Ledger>,
    epoch: u64,
    welcome: Arc<Welcome>,
}

impl Welcomes {
    /// A server of that pool, with the settings of `epoch`, has said this. There are at most as many as pools.
    pub(in crate::board) fn learn(&self, ledger: &Arc<Ledger>, epoch: u64, welcome: &Arc<Welcome>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(&ledger.id) && known.len().is_power_of_two() {
            known.retain(|_, pool| pool.ledger.strong_count() > 0);
        }
        let said = Known { ledger: Arc::downgrade(ledger), epoch, welcome: Arc::clone(welcome) };
        known.insert(ledger.id, said);
    }

    pub(in crate::board) fn of(&self, ledger: &Arc<Ledger>, epoch: u64) -> Option<Arc<Welcome>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = known.get(&ledger.id).filter(|pool| pool.epoch == epoch)?;
        Weak::ptr_eq(&pool.ledger, &Arc::downgrade(ledger)).then(|| Arc::clone(&pool.welcome))
    }
}
