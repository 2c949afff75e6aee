//! A worker's part of a pool, and what the worker knows of that pool.

use std::collections::HashMap;
use std::sync::Arc;

use trunkline_pool::{Micros, Pool};
use trunkline_session::frontend::{Credential, ServerLogin};
use trunkline_wire::startup::ProtocolVersion;

use crate::carried::prepared::Schema;
use crate::counters::Counters;
use crate::directory::{Database, Directory, TlsWay};
use crate::keys::{ClientKey, ServerKey};
use crate::welcome::Welcome;

/// How many start-up parameters' canonical values a pool keeps.
const CANONICAL_VALUES_MAX: usize = 1024;

/// A worker's part of a pool.
pub(crate) struct LocalPool {
    pub(crate) pool: Pool<ClientKey, ServerKey>,
    pub(crate) database: Arc<Database>,
    /// The database's name as clients use it (the fallback entry serves many).
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) credential: Credential,
    pub(crate) welcome: Option<Arc<Welcome>>,
    /// Start-up parameters that the server has accepted: name and value as a client has given them, to the value as the server
    /// spells it.
    pub(crate) canonical_values: HashMap<(String, String), String>,
    /// The definitions (tables, types, ...) of the pool's database.
    pub(crate) schema: Arc<Schema>,
    pub(crate) counters: Counters,
    /// The number of this worker's clients that the ledger counts.
    pub(crate) clients: u32,
    /// When a client of this worker last needed the pool. After a long time the worker drops its part.
    pub(crate) last_used: Micros,
    /// The reason why the last login failed: an ErrorResponse for clients. Empty if it succeeded.
    pub(crate) last_error: Vec<u8>,
    pub(crate) epoch: u64,
    /// Which of the two ways of TLS worked last.
    pub(crate) tls_way: TlsWay,
}

impl LocalPool {
    /// Keeps the value as the server spells it (`canonical`) for the value `raw` that a client has given.
    pub(crate) fn remember_canonical(&mut self, name: &str, raw: &str, canonical: &str) {
        if self.canonical_values.len() >= CANONICAL_VALUES_MAX {
            self.canonical_values.clear();
        }
        self.canonical_values.insert((name.to_owned(), raw.to_owned()), canonical.to_owned());
    }

    /// The settings of a login to the server.
    pub(crate) fn server_login(&self, directory: &Directory, way: TlsWay) -> ServerLogin {
        let database = self.database.server_name.as_deref().unwrap_or(&self.name);
        let mut login = ServerLogin::new(self.user.as_str(), database);
        login.parameters.clone_from(&self.database.parameters);
        login.credential = self.credential.clone();
        let target = &self.database.target;
        login.tls = target.second_try.filter(|_| way == TlsWay::Second).unwrap_or(target.tls);
        login.protocol = ProtocolVersion::V3_0;
        let on_this_machine = self.database.target.host.starts_with(['/', '@']);
        login.cleartext_without_tls = on_this_machine || directory.login_tcp.cleartext_without_tls;
        login.scram_iterations_max = directory.scram_iterations_max;
        login
    }
}
