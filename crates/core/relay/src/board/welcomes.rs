//! The parameters that servers report at login. Clients get them when they are let in.

use std::sync::Arc;

use trunkline_pool::PoolId;

use super::Board;
use crate::carried::parameters::UNKNOWN;
use crate::keys::ServerKey;
use crate::welcome::Welcome;

impl Board {
    /// If this worker has learnt nothing of a pool yet, takes over what another worker has learnt.
    pub(super) fn take_shared_welcome(&mut self, id: PoolId) {
        let Some(local) = self.local_pools.get_mut(id).and_then(Option::as_deref_mut) else { return };
        if local.welcome.is_some() {
            return;
        }
        if let Some(known) = self.shared.welcomes.find(local.pool.ledger(), local.epoch) {
            let [base, defaults] =
                [&known.base, &known.defaults].map(|profile| self.profiles.intern((**profile).clone()));
            local.welcome = Some(Arc::new(Welcome { parameters: known.parameters.clone(), base, defaults }));
        }
    }

    /// A server connection is ready for clients. The parameters that it has now are what the pool's next clients get.
    pub(super) fn update_welcome(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        let Some(local) = self.local_pools.get_mut(server.pool).and_then(Option::as_deref_mut) else {
            return;
        };
        let Some(said) = server.welcome.as_ref() else { return };
        let mut parameters = said.parameters.clone();
        for (name, value) in &mut parameters {
            if let Some(now) = server.profile.value(name).filter(|now| *now != UNKNOWN) {
                now.clone_into(value);
            }
        }
        let (base, defaults) = (Arc::clone(&server.profile), Arc::clone(&said.defaults));
        let welcome = Arc::new(Welcome { parameters, base, defaults });
        self.shared.welcomes.set(local.pool.ledger(), local.epoch, &welcome);
        local.welcome = Some(Arc::clone(&welcome));
        server.welcome = Some(welcome);
    }
}
