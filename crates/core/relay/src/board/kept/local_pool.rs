//! What a worker knows of a pool.

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

/// Start-up parameters remembered as accepted by the server, in one pool.
const PROVEN_MAX: usize = 1024;

/// One pool of a worker.
pub(crate) struct LocalPool {
    pub(crate) pool: Pool<ClientKey, ServerKey>,
    pub(crate) database: Arc<Database>,
    /// The database's name as clients use it (the fallback entry serves many).
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) credential: Credential,
    pub(crate) welcome: Option<Arc<Welcome>>,
    /// Start-up parameters that the server has taken: name and value as given, value as the server has it.
    pub(crate) proven: HashMap<(String, String), String>,
    /// The definitions that its servers read statements by.
    pub(crate) schema: Arc<Schema>,
    pub(crate) counters: Counters,
    /// Clients here that are counted in the ledger.
    pub(crate) clients: u32,
    /// When somebody here had a use for the pool last; it may be forgotten when that is long ago.
    pub(crate) used: Micros,
    /// Why the last login failed, as an ErrorResponse for clients.
    pub(crate) last_error: Vec<u8>,
    pub(crate) epoch: u64,
    /// The way of TLS that worked last.
    pub(crate) tls_way: TlsWay,
}

impl LocalPool {
    pub(crate) fn remember(&mut self, name: &str, raw: &str, canonical: &str) {
        if self.proven.len() >= PROVEN_MAX {
            self.proven.clear();
        }
        self.proven.insert((name.to_owned(), raw.to_owned()), canonical.to_owned());
    }

    /// How to log in to the server.
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
