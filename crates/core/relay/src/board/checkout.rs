//! Server connections: asked for, lent, given back.

use std::sync::Arc;

use trunkline_pool::{Ledger, PoolId, PoolMode, Release, Waiter, Want};
use trunkline_wire::backend::TransactionStatus;

use super::kept::due::Due;
use super::kept::local_pool::LocalPool;
use super::servers::as_fatal;
use super::{Action, Board, Mail};
use crate::carried::bring_parameters;
use crate::carried::parameters::SEED;
use crate::client::{AfterError, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::{Cancel, Condition, Server, ServerStage};
use crate::text::ParseBudget;
use crate::turn::{Chore, is_begun_transaction};

impl Board {
    /// A client wants a server connection of a pool. It is linked at once, or waits, or is told why not.
    pub(super) fn acquire(&mut self, key: ClientKey, pool: PoolId, purpose: Purpose) {
        let now = self.now;
        while !self.paused {
            let Some(local) = self.local_pool_mut(pool) else { return };
            if local.pool.out_of_order(now) {
                return self.fail_for_pool(key, pool, purpose);
            }
            let Some((server, idle_since)) = local.pool.take_idle() else { break };
            let check = local.pool.check_due(idle_since, now);
            if self.is_spent(server) {
                self.close_server(server);
            } else if check {
                self.check(server);
                break;
            } else {
                return self.link(key, server, purpose);
            }
        }
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Waiting(purpose);
        client.since = now;
        if let Some(local) = self.local_pool_mut(pool) {
            local.pool.enqueue(key, now);
        }
        self.share_connections(pool);
        self.serve_queue(pool);
    }

    /// Does what can be done for those who wait in a pool.
    pub(super) fn serve_queue(&mut self, pool: PoolId) {
        if self.paused {
            return;
        }
        let now = self.now;
        let worker = self.worker;
        loop {
            let Some(local) = self.local_pool_mut(pool) else { return };
            match local.pool.want(now) {
                Want::Open => self.open_server(pool),
                Want::Ask(other) => {
                    self.actions.push_back(Action::Mail(other, Mail::Starving(pool, worker)));
                    return;
                }
                Want::Evict(refused) => {
                    let ledger = Arc::clone(local.pool.ledger());
                    if self.evict_for(&ledger).is_none() {
                        if let Some(local) = self.local_pool(pool) {
                            local.pool.claim(refused, now);
                        }
                        self.ask_for_eviction(&ledger);
                        return;
                    }
                }
                Want::Nothing => return,
            }
        }
    }

    /// A connection of `pool` is gone: its place is for who waits, here or in another worker.
    pub(super) fn serve_place(&mut self, pool: PoolId) {
        self.serve_queue(pool);
        let ledger = self.local_pool(pool).map(|local| Arc::clone(local.pool.ledger()));
        if let Some(ledger) = ledger
            && let Some((worker, _)) = ledger.starving_elsewhere(self.worker)
        {
            self.actions.push_back(Action::Mail(worker, Mail::Vacancy(ledger)));
        }
        self.serve_sharers(pool);
    }

    /// A place under the limits of `pool`, or an idle connection to close for one, is there: for who waits in other pools
    /// that share a limit with it.
    pub(super) fn serve_sharers(&mut self, pool: PoolId) {
        let Some(local) = self.local_pool(pool) else { return };
        if !local.pool.has_shared_limit() {
            return;
        }
        let ledger = Arc::clone(local.pool.ledger());
        self.serve_sharers_here(&ledger);
        if ledger.sharers_wait() {
            for worker in (0..ledger.workers()).filter(|worker| *worker != self.worker) {
                self.actions.push_back(Action::Mail(worker, Mail::Vacancy(Arc::clone(&ledger))));
            }
        }
    }

    /// The same, for this worker's pools, that pool among them.
    pub(super) fn serve_sharers_here(&mut self, ledger: &Ledger) {
        let others = self.local_pools.iter().flatten().map(|local| &local.pool);
        let waiting: Vec<PoolId> = others
            .filter(|other| other.waiting() > 0)
            .filter(|other| other.ledger().id == ledger.id || other.ledger().shares_limit(ledger))
            .map(|other| other.ledger().id)
            .collect();
        waiting.into_iter().for_each(|pool| self.serve_queue(pool));
    }

    /// Closes an idle connection of another pool that shares a limit with that of `ledger`, and says of which.
    pub(super) fn evict_for(&mut self, ledger: &Ledger) -> Option<PoolId> {
        let victim = self
            .local_pools
            .iter_mut()
            .flatten()
            .find(|local| local.pool.ledger().shares_limit(ledger) && local.pool.idle() > 0);
        let server = victim.and_then(|local| local.pool.take_coldest())?;
        self.hang_up(server)
    }

    fn ask_for_eviction(&mut self, ledger: &Arc<Ledger>) {
        for worker in (0..ledger.workers()).filter(|worker| *worker != self.worker) {
            self.actions.push_back(Action::Mail(worker, Mail::Evict(Arc::clone(ledger))));
        }
    }

    /// Whether a server connection that nobody has may not be lent again.
    pub(super) fn is_spent(&self, key: ServerKey) -> bool {
        self.servers.get(key).is_none_or(Server::has_unfinished_input) || self.is_outdated(key)
    }

    /// Whether a server connection is not to be used by another client.
    pub(super) fn is_outdated(&self, key: ServerKey) -> bool {
        let Some(server) = self.servers.get(key) else { return true };
        let Some(local) = self.local_pool(server.pool) else { return true };
        server.condition == Condition::Condemned
            || server.epoch < local.epoch
            || local.pool.too_old(server.opened, self.now)
    }

    /// Lends a server connection that is on no list.
    pub(super) fn link(&mut self, key: ClientKey, server_key: ServerKey, purpose: Purpose) {
        let now = self.now;
        let (Some(client), Some(server)) = (self.clients.get_mut(key), self.servers.get_mut(server_key))
        else {
            return;
        };
        if matches!(client.stage, Stage::Waiting(_))
            && let Some(Some(local)) = self.local_pools.get_mut(server.pool)
        {
            local.counters.wait_us += now.saturating_sub(client.since);
        }
        client.stage = Stage::Linked(server_key, purpose);
        server.stage = ServerStage::Lent(key);
        server.turns.drop_begun();
        server.lent_turns = 0;
        server.since = now;
        match purpose {
            Purpose::Turn => {
                bring_parameters(server, Arc::clone(&client.profile), Chore::Parameters);
                self.deal_inbox(key);
            }
            Purpose::Probe | Purpose::Session | Purpose::AuthQuery => self.due.push_back(Due::Begin(key)),
        }
    }

    /// Nobody uses a server connection any more. What came with its last answer is read before somebody else does.
    pub(super) fn free_server(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.stage = ServerStage::Abandoned;
        server.since = self.now;
        server.turns.drop_begun();
        self.due.push_back(Due::Free(key));
    }

    /// Cleans a connection that is nobody's, then lends it on, idles it or closes it.
    pub(super) fn give_back(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if !server.is_abandoned() {
            return;
        }
        // A client that vanished within its RESET has left this.
        server.resetting = None;
        if server.paused {
            server.paused = false;
            self.actions.push_back(Action::ResumeServer(key));
        }
        // A seed that a session's client set at start-up is taken back by nothing.
        server.condemn_if(server.profile.value(SEED).is_some());
        let status = server.status;
        if server.condition == Condition::Condemned || server.has_unfinished_input() {
            return self.close_server(key);
        }
        if server.cancel != Cancel::None {
            // The cancel could hit the next client's query: it waits until the cancel has come and gone.
            return;
        }
        if status != TransactionStatus::Idle {
            return self.start_query(key, "ROLLBACK", Chore::Rollback);
        }
        // A session's client could bind the statement that a look-up left when it failed, or a client of before a
        // reload.
        let (prepared, pool) = (!server.statements.is_clear(), server.pool);
        let session = |local: &LocalPool| local.pool.settings().mode == PoolMode::Session;
        let used = std::mem::take(&mut server.condition) == Condition::Used
            || self.directory.reset_always
            || (prepared && self.local_pool(pool).is_some_and(session));
        if used && !self.directory.reset_query.is_empty() {
            let directory = Arc::clone(&self.directory);
            return self.start_query(key, &directory.reset_query, Chore::Reset);
        }
        self.give_on(key);
    }

    /// A clean server connection goes to who waits, to another worker, or to the idle list.
    pub(super) fn give_on(&mut self, key: ServerKey) {
        let now = self.now;
        let Some(pool) = self.servers.get(key).map(|server| server.pool) else { return };
        let unwanted =
            self.local_pool(pool).is_none_or(|local| local.pool.over_size() || local.pool.must_yield(now));
        if self.paused || unwanted || self.is_spent(key) {
            return self.close_server(key);
        }
        let Some(local) = self.local_pools.get_mut(pool).and_then(Option::as_deref_mut) else { return };
        match local.pool.release(key, now) {
            Release::Serve(Waiter { client, .. }) => {
                let purpose = match self.clients.get(client).map(|client| &client.stage) {
                    Some(Stage::Waiting(purpose)) => *purpose,
                    _ => return self.give_on(key),
                };
                self.link(client, key, purpose);
            }
            Release::Idle => {
                if let Some(server) = self.servers.get_mut(key) {
                    server.stage = ServerStage::Idle;
                    server.since = now;
                }
                self.serve_sharers(pool);
            }
            Release::Handoff(worker) => {
                local.counters.handed_on += 1;
                self.hand_over(key, worker);
            }
        }
    }

    fn hand_over(&mut self, key: ServerKey, worker: usize) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if !server.outbox.is_empty() || !server.inbox.is_empty() || server.cancel != Cancel::None {
            server.condemn_if(true);
            return self.close_server(key);
        }
        if let Some(server) = self.servers.remove(key) {
            self.actions.push_back(Action::Handoff(worker, key, server));
        }
    }

    /// A server connection from another worker. It may be in use, or closed by an action, when this returns.
    pub fn server_arrived(&mut self, mut server: Box<Server>) -> ServerKey {
        let pool = server.pool;
        server.stage = ServerStage::Chore(Chore::Check);
        // It stood on the other worker's list of those to write to.
        server.outbox.listed = false;
        server.profile = self.profiles.intern((*server.profile).clone());
        let welcome = server.welcome.clone();
        let key = self.servers.insert(server);
        if let Some(local) = self.local_pool_mut(pool)
            && local.welcome.is_none()
        {
            local.welcome = welcome;
        }
        self.give_on(key);
        self.do_what_is_due();
        key
    }

    /// A worker does not take this connection of ours, whose socket is closed: nobody has it.
    pub fn handoff_failed(&mut self, server: Box<Server>) {
        let key = self.servers.insert(server);
        self.close_server(key);
        self.do_what_is_due();
    }

    /// Another worker's clients wait for a connection that this one has idle.
    pub(super) fn lend_to_starving(&mut self, pool: PoolId, worker: usize) {
        let here = self.worker;
        let Some(local) = self.local_pool_mut(pool) else { return };
        let starving = local.pool.ledger().starving_elsewhere(here).is_some();
        if starving && let Some(server) = local.pool.take_coldest() {
            local.counters.handed_on += 1;
            self.hand_over(server, worker);
        }
    }

    /// Answers a client's turn with an error; it can go on with the next one, unless that is of a transaction which the first
    /// was to begin.
    pub(super) fn fail_turn(&mut self, key: ClientKey, error: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let mut share = ParseBudget::unbounded(&self.directory.limits);
        if is_begun_transaction(client, client.inbox.waiting(), &self.shared.classes, &mut share) {
            client.outbox.push(&as_fatal(error));
            return self.close_client(key);
        }
        client.stage = Stage::Idle;
        client.outbox.push(error);
        client.held = false;
        client.after_error = AfterError::SkipNextTurn;
        self.list_client(key);
        self.deal_inbox(key);
    }
}
