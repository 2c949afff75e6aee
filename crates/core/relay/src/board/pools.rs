//! Pools come to be known in a worker, and are forgotten.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::{Pool, PoolId};

use super::Board;
use super::kept::local_pool::LocalPool;
use super::local_pools::{credential_of, schema_of};
use crate::counters::Counters;
use crate::directory::{Database, TlsWay};

impl Board {
    /// The pool of a database (by the name the client uses) and a user on the server. `None` when there are `pools_max` and
    /// it is none of them.
    pub(super) fn local_pool_for(
        &mut self,
        name: &str,
        database: &Arc<Database>,
        user: &str,
    ) -> Option<PoolId> {
        if let Some(known) = self.find_local_pool(name, user) {
            return Some(known);
        }
        let most = self.directory.pools_max;
        let mut entered = self.shared.ledgers.enter(name, user, most);
        if entered.is_none() && self.forget_longest_unused() {
            entered = self.shared.ledgers.enter(name, user, most);
        }
        let Some(ledger) = entered else {
            self.shared.hit("pools_max");
            return None;
        };
        let id = ledger.id;
        let settings = self.directory.pool_settings(database, user);
        let mut pool = Pool::new(ledger, self.worker, settings.clone());
        pool.configure(settings, database.capacity, self.directory.user_capacity(user));
        let schema = schema_of(&self.shared.schemas, database, name);
        self.local_pools.insert(Box::new(LocalPool {
            pool,
            schema,
            database: Arc::clone(database),
            name: name.to_owned(),
            user: user.to_owned(),
            credential: credential_of(&self.directory, database, user),
            welcome: None,
            proven: HashMap::new(),
            counters: Counters::default(),
            clients: 0,
            used: self.now,
            last_error: Vec::new(),
            epoch: self.directory.epoch,
            tls_way: TlsWay::First,
        }));
        Some(id)
    }

    fn find_local_pool(&mut self, name: &str, user: &str) -> Option<PoolId> {
        let id = self.shared.ledgers.find(name, user)?.id;
        let now = self.now;
        let local = self.local_pool_mut(id)?;
        local.used = now;
        Some(id)
    }

    /// Forgets pools that nobody has had a use for: after `pool_idle_timeout`, and where no login has ever succeeded, once
    /// the next one might be tried.
    pub(super) fn forget_pools(&mut self) {
        let now = self.now;
        let timeout = self.directory.timeouts.pool_idle;
        for id in self.local_pools.ids() {
            let Some(local) = self.local_pool(id) else { continue };
            if !self.is_forgettable(local) {
                continue;
            }
            let long = timeout
                .is_some_and(|timeout| u128::from(now.saturating_sub(local.used)) >= timeout.as_micros());
            let vain = !local.pool.ledger().database.is_proven() && !local.pool.out_of_order(now);
            if long || vain {
                self.forget(id);
            }
        }
    }

    /// Makes room for a pool, where one of those here can be spared.
    fn forget_longest_unused(&mut self) -> bool {
        let spare = self.local_pools.iter().flatten().filter(|local| self.is_forgettable(local));
        let Some(id) = spare.min_by_key(|local| local.used).map(|local| local.pool.ledger().id) else {
            return false;
        };
        self.forget(id);
        true
    }

    /// Whether a pool is empty, in all workers as far as connections go, and not one of those that the configuration names,
    /// whose number it bounds itself.
    fn is_forgettable(&self, local: &LocalPool) -> bool {
        let unused = local.clients == 0 && local.pool.waiting() == 0 && local.pool.ledger().open() == 0;
        unused && !self.is_configured(local)
    }

    fn is_configured(&self, local: &LocalPool) -> bool {
        let Some(database) = self.directory.databases.get(&local.name) else { return false };
        let asks = |user: &str| database.auth_query.as_ref().is_some_and(|query| query.user == user);
        database.forced_user.as_ref() == Some(&local.user)
            || self.directory.users.contains_key(&local.user)
            || asks(&local.user)
    }

    /// Whether a pool has no name in metrics: nobody but clients has said that there is such a
    /// database.
    pub(super) fn is_nameless(&self, local: &LocalPool) -> bool {
        !self.directory.databases.contains_key(&local.name) && !local.pool.ledger().database.is_proven()
    }

    /// What was counted before a pool had a name is not counted under it: a count never goes back.
    pub(super) fn keep_nameless_counts(&mut self, id: PoolId) {
        if self.local_pool(id).is_some_and(|local| self.is_nameless(local))
            && let Some(local) = self.local_pool_mut(id)
        {
            let counted = std::mem::take(&mut local.counters);
            self.forgotten.add(&counted);
        }
    }

    fn forget(&mut self, id: PoolId) {
        let Some(local) = self.local_pools.remove(id) else { return };
        self.forgotten.add(&local.counters);
        self.shared.ledgers.leave(&local.name, &local.user, local.pool.ledger());
    }
}
