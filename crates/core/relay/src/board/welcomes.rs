//! What servers say of themselves after login: clients are welcomed with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use trunkline_pool::{Ledger, PoolId};

use super::Board;
use crate::ServerKey;
use crate::parameters::{Profile, UNKNOWN};

/// What a server says of itself after login.
#[derive(Debug)]
pub(crate) struct Welcome {
    /// All that the server reports, in its order.
    pub(crate) parameters: Vec<(String, String)>,
    /// Those that follow clients, as `connect_query` has left them.
    pub(crate) base: Arc<Profile>,
    /// The same as the server has them by itself: what it goes back to by RESET.
    pub(crate) defaults: Arc<Profile>,
}

impl Welcome {
    /// Whether the server tells us when this parameter changes.
    pub(crate) fn reports(&self, name: &str) -> bool {
        self.parameters.iter().any(|(reported, _)| reported == name)
    }
}

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
    pub(super) fn learn(&self, ledger: &Arc<Ledger>, epoch: u64, welcome: &Arc<Welcome>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(&ledger.id) && known.len().is_power_of_two() {
            known.retain(|_, pool| pool.ledger.strong_count() > 0);
        }
        let said = Known { ledger: Arc::downgrade(ledger), epoch, welcome: Arc::clone(welcome) };
        known.insert(ledger.id, said);
    }

    fn of(&self, ledger: &Arc<Ledger>, epoch: u64) -> Option<Arc<Welcome>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = known.get(&ledger.id).filter(|pool| pool.epoch == epoch)?;
        Weak::ptr_eq(&pool.ledger, &Arc::downgrade(ledger)).then(|| Arc::clone(&pool.welcome))
    }
}

impl Board {
    /// Takes over what another worker knows of a pool of which this one knows nothing yet.
    pub(super) fn learn_welcome(&mut self, id: PoolId) {
        let Some(slot) = self.slots.get_mut(id).and_then(Option::as_deref_mut) else { return };
        if slot.welcome.is_some() {
            return;
        }
        if let Some(known) = self.shared.welcomes.of(slot.pool.ledger(), slot.epoch) {
            let [base, defaults] =
                [&known.base, &known.defaults].map(|profile| self.profiles.intern((**profile).clone()));
            slot.welcome = Some(Arc::new(Welcome { parameters: known.parameters.clone(), base, defaults }));
        }
    }

    /// A server connection is ready for clients: they are welcomed with what it reports now.
    pub(super) fn learn_from(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(slot) = self.slots.get_mut(server.pool).and_then(Option::as_deref_mut) else { return };
        let Some(said) = server.welcome.as_ref() else { return };
        let mut parameters = said.parameters.clone();
        for (name, value) in &mut parameters {
            if let Some(now) = server.profile.value(name).filter(|now| *now != UNKNOWN) {
                now.clone_into(value);
            }
        }
        let (base, defaults) = (Arc::clone(&server.profile), Arc::clone(&said.defaults));
        let welcome = Arc::new(Welcome { parameters, base, defaults });
        self.shared.welcomes.learn(slot.pool.ledger(), slot.epoch, &welcome);
        slot.welcome = Some(Arc::clone(&welcome));
        server.welcome = Some(welcome);
    }
}
