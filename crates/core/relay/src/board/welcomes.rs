//! What servers say of themselves after login: clients are welcomed with it.

use std::sync::Arc;

use trunkline_pool::PoolId;

use super::Board;
use crate::carried::parameters::UNKNOWN;
use crate::keys::ServerKey;
use crate::welcome::Welcome;

impl Board {
    /// Takes over what another worker knows of a pool of which this one knows nothing yet.
    pub(super) fn learn_welcome(&mut self, id: PoolId) {
        let Some(local) = self.local_pools.get_mut(id).and_then(Option::as_deref_mut) else { return };
        if local.welcome.is_some() {
            return;
        }
        if let Some(known) = self.shared.welcomes.of(local.pool.ledger(), local.epoch) {
            let [base, defaults] =
                [&known.base, &known.defaults].map(|profile| self.profiles.intern((**profile).clone()));
            local.welcome = Some(Arc::new(Welcome { parameters: known.parameters.clone(), base, defaults }));
        }
    }

    /// A server connection is ready for clients: they are welcomed with what it reports now.
    pub(super) fn learn_from(&mut self, key: ServerKey) {
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
        self.shared.welcomes.learn(local.pool.ledger(), local.epoch, &welcome);
        local.welcome = Some(Arc::clone(&welcome));
        server.welcome = Some(welcome);
    }
}
