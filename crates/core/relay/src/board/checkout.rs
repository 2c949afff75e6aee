//! Lends server connections to clients, and takes them back.

use std::sync::Arc;

use trunkline_pool::{Ledger, PoolId, PoolMode, Release, Waiter, Want};
use trunkline_wire::backend::TransactionStatus;

use super::kept::due::Due;
use super::kept::local_pool::LocalPool;
use super::servers::as_fatal;
use super::{Action, Board, Mail};
use crate::carried::parameters::SEED;
use crate::carried::send_parameters;
use crate::client::{AfterError, Purpose, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::{Cancel, Condition, Server, ServerStage};
use crate::text::ParseBudget;
use crate::turn::{Chore, begins_transaction_before_other_turns};

impl Board {
    /// A client needs a server connection of a pool. It gets one at once, or waits for one, or gets an error.
    pub(super) fn acquire(&mut self, key: ClientKey, pool: PoolId, purpose: Purpose) {
        let now = self.now;
        while !self.paused {
            let Some(local) = self.local_pool_mut(pool) else { return };
            if local.pool.cannot_serve(now) {
                return self.fail_waiter(key, pool, purpose);
            }
            let Some((server, idle_since)) = local.pool.take_idle() else { break };
            let check = local.pool.needs_check(idle_since, now);
            if self.cannot_be_lent(server) {
                self.close_server(server);
            } else if check {
                self.start_check(server);
                break;
            } else {
                return self.link(key, server, purpose);
            }
        }
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Waiting(purpose);
        client.last_active = now;
        if let Some(local) = self.local_pool_mut(pool) {
            local.pool.enqueue(key, now);
        }
        self.share_connections(pool);
        self.serve_queue(pool);
    }

    /// Does what can be done now for the clients that wait in a pool.
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
                Want::Evict(limit) => {
                    let ledger = Arc::clone(local.pool.ledger());
                    if self.evict_for(&ledger).is_none() {
                        if let Some(local) = self.local_pool(pool) {
                            local.pool.claim(limit, now);
                        }
                        self.ask_for_eviction(&ledger);
                        return;
                    }
                }
                Want::Nothing => return,
            }
        }
    }

    /// A connection of `pool` is closed, so another one can be opened: for a waiting client of this pool, in any worker, or of
    /// another pool that shares a limit with it.
    pub(super) fn serve_vacancy(&mut self, pool: PoolId) {
        self.serve_queue(pool);
        let ledger = self.local_pool(pool).map(|local| Arc::clone(local.pool.ledger()));
        if let Some(ledger) = ledger
            && let Some((worker, _)) = ledger.longest_waiting_worker(self.worker)
        {
            self.actions.push_back(Action::Mail(worker, Mail::Vacancy(ledger)));
        }
        self.serve_related_pools(pool);
    }

    /// Under the limits of `pool`, a connection can be opened, or an idle one can be closed for that: serves clients that wait
    /// in pools that share a limit with it, in all workers.
    pub(super) fn serve_related_pools(&mut self, pool: PoolId) {
        let Some(local) = self.local_pool(pool) else { return };
        if !local.pool.has_shared_limit() {
            return;
        }
        let ledger = Arc::clone(local.pool.ledger());
        self.serve_related_pools_here(&ledger);
        if ledger.clients_wait_in_related_pools() {
            for worker in (0..ledger.workers()).filter(|worker| *worker != self.worker) {
                self.actions.push_back(Action::Mail(worker, Mail::Vacancy(Arc::clone(&ledger))));
            }
        }
    }

    /// The same for this worker only. The pool of `ledger` is served too.
    pub(super) fn serve_related_pools_here(&mut self, ledger: &Ledger) {
        let pools = self.local_pools.iter().flatten().map(|local| &local.pool);
        let waiting: Vec<PoolId> = pools
            .filter(|pool| pool.waiting() > 0)
            .filter(|pool| pool.ledger().id == ledger.id || pool.ledger().shares_limit(ledger))
            .map(|pool| pool.ledger().id)
            .collect();
        waiting.into_iter().for_each(|pool| self.serve_queue(pool));
    }

    /// Closes an idle connection of another pool that shares a limit with the pool of `ledger`. Returns that other pool.
    pub(super) fn evict_for(&mut self, ledger: &Ledger) -> Option<PoolId> {
        let victim = self
            .local_pools
            .iter_mut()
            .flatten()
            .find(|local| local.pool.ledger().shares_limit(ledger) && local.pool.idle() > 0);
        let server = victim.and_then(|local| local.pool.take_longest_idle())?;
        self.close_without_serving(server)
    }

    fn ask_for_eviction(&mut self, ledger: &Arc<Ledger>) {
        for worker in (0..ledger.workers()).filter(|worker| *worker != self.worker) {
            self.actions.push_back(Action::Mail(worker, Mail::Evict(Arc::clone(ledger))));
        }
    }

    /// Whether a server connection that no client has must be closed instead of being lent again.
    pub(super) fn cannot_be_lent(&self, key: ServerKey) -> bool {
        self.servers.get(key).is_none_or(Server::has_unfinished_input) || self.is_outdated(key)
    }

    /// Whether a server connection must not be lent to another client: it is condemned, too old, or from before a reload that
    /// changed its pool.
    pub(super) fn is_outdated(&self, key: ServerKey) -> bool {
        let Some(server) = self.servers.get(key) else { return true };
        let Some(local) = self.local_pool(server.pool) else { return true };
        server.condition == Condition::Condemned
            || server.epoch < local.epoch
            || local.pool.is_too_old(server.opened, self.now)
    }

    /// Lends a server connection, which must be on no list, to a client.
    pub(super) fn link(&mut self, key: ClientKey, server_key: ServerKey, purpose: Purpose) {
        let now = self.now;
        let (Some(client), Some(server)) = (self.clients.get_mut(key), self.servers.get_mut(server_key))
        else {
            return;
        };
        if matches!(client.stage, Stage::Waiting(_))
            && let Some(Some(local)) = self.local_pools.get_mut(server.pool)
        {
            local.counters.wait_us += now.saturating_sub(client.last_active);
        }
        client.stage = Stage::Linked(server_key, purpose);
        server.stage = ServerStage::Lent(key);
        server.turns.drop_begun();
        server.lent_turns = 0;
        server.last_change = now;
        match purpose {
            Purpose::Turn => {
                send_parameters(server, Arc::clone(&client.profile), Chore::Parameters);
                self.schedule_inbox(key);
            }
            Purpose::Probe | Purpose::Session | Purpose::AuthQuery => self.due.push_back(Due::UseServer(key)),
        }
    }

    /// No client or chore uses a server connection any more. It is lent again after all bytes are read that came together with
    /// its last answer.
    pub(super) fn free_server(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.stage = ServerStage::Abandoned;
        server.last_change = self.now;
        server.turns.drop_begun();
        self.due.push_back(Due::Reclaim(key));
    }

    /// Cleans a connection that no client has any more. Then lends it again, makes it idle, or closes it.
    pub(super) fn reclaim_server(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if !server.is_abandoned() {
            return;
        }
        // A client that vanished during its RESET has left this value.
        server.resetting = None;
        if server.paused {
            server.paused = false;
            self.actions.push_back(Action::ResumeServer(key));
        }
        // A client in session mode may have set a seed at start-up, and nothing resets a seed.
        server.condemn_if(server.profile.value(SEED).is_some());
        let status = server.status;
        if server.condition == Condition::Condemned || server.has_unfinished_input() {
            return self.close_server(key);
        }
        if server.cancel != Cancel::None {
            // The cancel request could hit the next client's query. So no client gets the connection before that is over.
            return;
        }
        if status != TransactionStatus::Idle {
            return self.start_query(key, "ROLLBACK", Chore::Rollback);
        }
        // In session mode a client's names reach the server unchanged. So it must not find a statement that a failed look-up
        // has left, or a client from before a reload.
        let (has_statements, pool) = (!server.statements.has_no_statements(), server.pool);
        let is_session = |local: &LocalPool| local.pool.settings().mode == PoolMode::Session;
        let must_reset = std::mem::take(&mut server.condition) == Condition::Used
            || self.directory.reset_always
            || (has_statements && self.local_pool(pool).is_some_and(is_session));
        if must_reset && !self.directory.reset_query.is_empty() {
            let directory = Arc::clone(&self.directory);
            return self.start_query(key, &directory.reset_query, Chore::Reset);
        }
        self.lend_or_idle(key);
    }

    /// A clean server connection goes to a waiting client, to another worker, or to the idle list, or it is closed.
    pub(super) fn lend_or_idle(&mut self, key: ServerKey) {
        let now = self.now;
        let Some(pool) = self.servers.get(key).map(|server| server.pool) else { return };
        let must_close = self
            .local_pool(pool)
            .is_none_or(|local| local.pool.exceeds_size() || local.pool.must_close_for_other_pool(now));
        if self.paused || must_close || self.cannot_be_lent(key) {
            return self.close_server(key);
        }
        let Some(local) = self.local_pools.get_mut(pool).and_then(Option::as_deref_mut) else { return };
        match local.pool.release(key, now) {
            Release::Serve(Waiter { client, .. }) => {
                let purpose = match self.clients.get(client).map(|client| &client.stage) {
                    Some(Stage::Waiting(purpose)) => *purpose,
                    _ => return self.lend_or_idle(key),
                };
                self.link(client, key, purpose);
            }
            Release::Idle => {
                if let Some(server) = self.servers.get_mut(key) {
                    server.stage = ServerStage::Idle;
                    server.last_change = now;
                }
                self.serve_related_pools(pool);
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

    /// Takes a server connection from another worker. When this returns, the connection may be lent already, or there may be
    /// an action that closes it.
    pub fn server_arrived(&mut self, mut server: Box<Server>) -> ServerKey {
        let pool = server.pool;
        server.stage = ServerStage::Chore(Chore::Check);
        // The connection may have been on the other worker's list of connections with unsent bytes.
        server.outbox.listed = false;
        server.profile = self.profiles.intern((*server.profile).clone());
        let welcome = server.welcome.clone();
        let key = self.servers.insert(server);
        if let Some(local) = self.local_pool_mut(pool)
            && local.welcome.is_none()
        {
            local.welcome = welcome;
        }
        self.lend_or_idle(key);
        self.run_due_tasks();
        key
    }

    /// The other worker did not take this connection, and its socket is closed.
    pub fn handoff_failed(&mut self, server: Box<Server>) {
        let key = self.servers.insert(server);
        self.close_server(key);
        self.run_due_tasks();
    }

    /// Clients of `worker` wait for a connection of this pool: gives that worker an idle connection, if there is one and the
    /// clients still wait.
    pub(super) fn give_idle_to_worker(&mut self, pool: PoolId, worker: usize) {
        let here = self.worker;
        let Some(local) = self.local_pool_mut(pool) else { return };
        let starving = local.pool.ledger().longest_waiting_worker(here).is_some();
        if starving && let Some(server) = local.pool.take_longest_idle() {
            local.counters.handed_on += 1;
            self.hand_over(server, worker);
        }
    }

    /// Answers a client's turn, which was not run, with an error. The client can go on with its next turn. But if the failed
    /// turn was to begin a transaction that its next messages belong to, the client is closed.
    pub(super) fn fail_turn(&mut self, key: ClientKey, error: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let mut share = ParseBudget::unbounded(&self.directory.limits);
        if begins_transaction_before_other_turns(
            client,
            client.inbox.waiting(),
            &self.shared.classes,
            &mut share,
        ) {
            client.outbox.push(&as_fatal(error));
            return self.close_client(key);
        }
        client.stage = Stage::Idle;
        client.outbox.push(error);
        client.output_held = false;
        client.after_error = AfterError::SkipNextTurn;
        self.list_unsent_client(key);
        self.schedule_inbox(key);
    }
}
