//! Messages of the operator (reload, pause, shutdown) and of other workers.

use std::sync::Arc;

use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::sqlstate::SqlState;

use super::mail::Shutdown;
use super::refusal::Refusal;
use super::{Board, Mail};
use crate::client::{Purpose, Stage};
use crate::directory::Directory;
use crate::keys::ClientKey;
use crate::server::ServerStage;

impl Board {
    /// Handles a message of another worker or of the operator.
    pub fn handle_mail(&mut self, mail: Mail) {
        match mail {
            Mail::Starving(pool, worker) => self.give_idle_to_worker(pool, worker),
            Mail::Evict(ledger) => {
                if let Some(pool) = self.evict_for(&ledger) {
                    self.serve_related_pools(pool);
                }
            }
            Mail::Vacancy(ledger) => self.serve_related_pools_here(&ledger),
            Mail::Cancel(victim, from, asker) => self.cancel_client(victim, from, asker),
            Mail::Cancelled(asker) => self.client_left(asker),
            Mail::Reload(directory) => self.reload(directory),
            Mail::Pause(paused) => self.pause(paused),
            Mail::Shutdown(how) => self.shut_down(how),
        }
        self.run_due_tasks();
    }

    fn reload(&mut self, directory: Arc<Directory>) {
        self.configure_local_pools(&directory);
        self.secrets.clear();
        self.directory = directory;
        self.make_configured_pools();
        for pool in self.local_pools.ids() {
            self.serve_queue(pool);
        }
    }

    /// Makes the pools that must have connections before a client comes: those with a `min_size` and a configured user.
    pub(super) fn make_configured_pools(&mut self) {
        if self.worker != 0 {
            return;
        }
        let directory = Arc::clone(&self.directory);
        for (name, database) in &directory.databases {
            if let (Some(user), 1..) = (&database.forced_user, database.pool.min_size) {
                self.local_pool_for(name, database, user);
            }
        }
    }

    /// Begins or ends a pause. In a pause no client gets a server connection, and server connections are closed as soon as
    /// they are free.
    fn pause(&mut self, paused: bool) {
        self.paused = paused;
        for pool in self.local_pools.ids() {
            if !paused {
                self.serve_queue(pool);
                continue;
            }
            while let Some(server) =
                self.local_pool_mut(pool).and_then(|local| local.pool.take_longest_idle())
            {
                self.close_server(server);
            }
        }
    }

    fn shut_down(&mut self, how: Shutdown) {
        self.shutdown = Some(how);
        self.continue_shutdown();
    }

    /// Closes the clients that the kind of shutdown allows to close now, and idle server connections once no client is left.
    pub(super) fn continue_shutdown(&mut self) {
        let Some(how) = self.shutdown else { return };
        let is_free = |stage: &Stage| match stage {
            Stage::Linked(server, Purpose::Session | Purpose::Turn) => {
                let done = |server: &crate::server::Server| {
                    server.is_settled() && server.status == TransactionStatus::Idle
                };
                self.servers.get(*server).is_none_or(done)
            }
            Stage::Idle | Stage::Login => true,
            Stage::Waiting(_) | Stage::Linked(..) | Stage::Owed(_) | Stage::Cancelling => false,
        };
        let leaving: Vec<ClientKey> = self
            .clients
            .iter()
            .filter(|(_, client)| match how {
                Shutdown::WaitForServers => is_free(&client.stage),
                Shutdown::WaitForClients => client.login.is_some() && matches!(client.stage, Stage::Login),
                Shutdown::Now => true,
            })
            .map(|(key, _)| key)
            .collect();
        for key in leaving {
            self.refuse(key, &Refusal::new(SqlState::ADMIN_SHUTDOWN, "the proxy is shutting down"));
        }
        for pool in self.local_pools.ids() {
            let has_no_clients = self.clients.is_empty();
            while has_no_clients
                && let Some(server) =
                    self.local_pool_mut(pool).and_then(|local| local.pool.take_longest_idle())
            {
                self.close_server(server);
            }
        }
    }

    /// Whether the shutdown is complete.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let idle = |server: &crate::server::Server| {
            matches!(server.stage, ServerStage::Idle | ServerStage::Login(_))
        };
        match self.shutdown {
            None => false,
            Some(Shutdown::Now) => true,
            Some(_) => self.clients.is_empty() && self.servers.iter().all(|(_, server)| idle(server)),
        }
    }
}
