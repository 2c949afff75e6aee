//! Shows single connections: for tests that compare the board's state with the real one.

use trunkline_pool::PoolId;
use trunkline_wire::backend::TransactionStatus;

use super::{Board, Shared};
use crate::carried::parameters::Profile;
use crate::client::{Client, Stage};
use crate::keys::{ClientKey, ServerKey};
use crate::server::{Server, ServerStage};

impl Board {
    /// All client connections of this worker.
    pub fn clients(&self) -> impl Iterator<Item = (ClientKey, &Client)> {
        self.clients.iter()
    }

    /// All server connections of this worker, those that are being opened included.
    pub fn servers(&self) -> impl Iterator<Item = (ServerKey, &Server)> {
        self.servers.iter()
    }

    /// The state that all workers share.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Client {
    /// Its stage.
    #[must_use]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The pool of its database and user, once it has logged in.
    #[must_use]
    pub fn home_pool(&self) -> Option<PoolId> {
        self.home_pool
    }

    /// How many bytes of it are not processed yet, and how many bytes are not sent to it yet.
    #[must_use]
    pub fn waiting_bytes(&self) -> (usize, usize) {
        (self.inbox.len(), self.outbox.pending().len())
    }

    /// How many statements it has named.
    #[must_use]
    pub fn statement_count(&self) -> usize {
        self.statements.as_ref().map_or(0, |statements| statements.len())
    }
}

impl Server {
    /// Its stage.
    #[must_use]
    pub fn stage(&self) -> &ServerStage {
        &self.stage
    }

    /// Its pool.
    #[must_use]
    pub fn pool(&self) -> PoolId {
        self.pool
    }

    /// The transaction status of its last ReadyForQuery.
    #[must_use]
    pub fn transaction_status(&self) -> TransactionStatus {
        self.status
    }

    /// The parameters that it has, as far as we know.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The names of the registry's statements that are prepared on it, the least recently used first.
    pub fn statement_names(&self) -> impl Iterator<Item = &[u8]> {
        self.statements.names()
    }

    /// Whether we know which unnamed statement it has.
    #[must_use]
    pub fn has_unnamed_statement(&self) -> bool {
        self.statements.unnamed.is_some()
    }

    /// The process id of its server process; 0 before the login is complete.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    /// How many bytes of it are not processed yet, and how many bytes are not sent to it yet.
    #[must_use]
    pub fn waiting_bytes(&self) -> (usize, usize) {
        (self.inbox.len(), self.outbox.pending().len())
    }

    /// How many answers it still owes.
    #[must_use]
    pub fn awaited_answers(&self) -> usize {
        self.turns.len()
    }
}
