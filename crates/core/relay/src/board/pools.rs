//! A worker makes its parts of pools when they are first needed, and drops them when they are no longer used.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::{Pool, PoolId};

use super::Board;
use super::kept::local_pool::LocalPool;
use super::local_pools::{credential_of, schema_of};
use crate::counters::Counters;
use crate::directory::{Database, TlsWay};

impl Board {
    /// The pool of a database (by the name that the client uses) and a user on the server; it is made if it does not exist.
    /// `None` if there are `pools_max` other pools already.
    pub(super) fn local_pool_for(
        &mut self,
        name: &str,
        database: &Arc<Database>,
        user: &str,
    ) -> Option<PoolId> {
        if let Some(known) = self.find_local_pool(name, user) {
            return Some(known);
        }
        let pools_max = self.directory.pools_max;
        let mut seat = self.shared.ledgers.take_seat(name, user, pools_max);
        if seat.is_none() && self.forget_longest_unused() {
            seat = self.shared.ledgers.take_seat(name, user, pools_max);
        }
        let Some(ledger) = seat else {
            self.shared.count_limit_hit("pools_max");
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
            canonical_values: HashMap::new(),
            counters: Counters::default(),
            clients: 0,
            last_used: self.now,
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
        local.last_used = now;
        Some(id)
    }

    /// Drops this worker's parts of unused pools: after `pool_idle_timeout`, or, if no login to their database has succeeded
    /// yet, as soon as the wait after a failed login is over.
    pub(super) fn forget_pools(&mut self) {
        let now = self.now;
        let timeout = self.directory.timeouts.pool_idle;
        for id in self.local_pools.ids() {
            let Some(local) = self.local_pool(id) else { continue };
            if !self.is_forgettable(local) {
                continue;
            }
            let is_idle = timeout.is_some_and(|timeout| {
                u128::from(now.saturating_sub(local.last_used)) >= timeout.as_micros()
            });
            let is_useless =
                !local.pool.ledger().database.is_known_to_exist() && !local.pool.cannot_serve(now);
            if is_idle || is_useless {
                self.forget(id);
            }
        }
    }

    /// Drops the part of the pool that was unused longest, to make room for another pool. False if none can be dropped.
    fn forget_longest_unused(&mut self) -> bool {
        let unused = self.local_pools.iter().flatten().filter(|local| self.is_forgettable(local));
        let Some(id) = unused.min_by_key(|local| local.last_used).map(|local| local.pool.ledger().id) else {
            return false;
        };
        self.forget(id);
        true
    }

    /// Whether this worker's part of a pool can be dropped: no client of this worker uses the pool, it has no server
    /// connection in any worker, and the configuration does not name it. (The number of pools that it names is bounded anyway.)
    fn is_forgettable(&self, local: &LocalPool) -> bool {
        let unused = local.clients == 0 && local.pool.waiting() == 0 && local.pool.ledger().open() == 0;
        unused && !self.is_configured(local)
    }

    fn is_configured(&self, local: &LocalPool) -> bool {
        let Some(database) = self.directory.databases.get(&local.name) else { return false };
        let runs_auth_query =
            |user: &str| database.auth_query.as_ref().is_some_and(|query| query.user == user);
        database.forced_user.as_ref() == Some(&local.user)
            || self.directory.users.contains_key(&local.user)
            || runs_auth_query(&local.user)
    }

    /// Whether metrics do not show a pool by name: only clients have named its database, neither the configuration nor a
    /// successful login shows that it exists.
    pub(super) fn is_nameless(&self, local: &LocalPool) -> bool {
        !self.directory.databases.contains_key(&local.name)
            && !local.pool.ledger().database.is_known_to_exist()
    }

    /// Moves the counts of a pool that metrics do not show by name to the counts of all such pools. If metrics show the pool
    /// by name later, its counts begin at 0, and the counts of the others do not decrease.
    pub(super) fn move_nameless_counts(&mut self, id: PoolId) {
        if self.local_pool(id).is_some_and(|local| self.is_nameless(local))
            && let Some(local) = self.local_pool_mut(id)
        {
            let counted = std::mem::take(&mut local.counters);
            self.forgotten_counters.add(&counted);
        }
    }

    fn forget(&mut self, id: PoolId) {
        let Some(local) = self.local_pools.remove(id) else { return };
        self.forgotten_counters.add(&local.counters);
        self.shared.ledgers.give_back_seat(&local.name, &local.user, local.pool.ledger());
    }
}
