//! A look at single connections: for the admin console, and for checks that compare what the board believes with what
//! there is.

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

    /// What all workers share.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Client {
    /// Where it is.
    #[must_use]
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The pool of its database and user, once it has logged in.
    #[must_use]
    pub fn home_pool(&self) -> Option<PoolId> {
        self.home_pool
    }

    /// Bytes it sent that wait, and bytes that wait to be sent to it.
    #[must_use]
    pub fn waiting_bytes(&self) -> (usize, usize) {
        (self.inbox.len(), self.outbox.pending().len())
    }

    /// Statements it has names for.
    #[must_use]
    pub fn statement_count(&self) -> usize {
        self.statements.as_ref().map_or(0, |statements| statements.len())
    }
}

impl Server {
    /// Where it is.
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

    /// The parameters it is known to have.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Names of the shared statements it has, least recently used first.
    pub fn statement_names(&self) -> impl Iterator<Item = &[u8]> {
        self.statements.names()
    }

    /// Whether it has an unnamed statement that a client may use again.
    #[must_use]
    pub fn has_unnamed_statement(&self) -> bool {
        self.statements.unnamed.is_some()
    }

    /// The process id of its backend; 0 before login.
    #[must_use]
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    /// Bytes it sent that wait, and bytes that wait to be sent to it.
    #[must_use]
    pub fn waiting_bytes(&self) -> (usize, usize) {
        (self.inbox.len(), self.outbox.pending().len())
    }

    /// Answers that are still to come from it.
    #[must_use]
    pub fn awaited_answers(&self) -> usize {
        self.turns.len()
    }
}
