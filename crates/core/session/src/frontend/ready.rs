//! A server connection that is ready for its first query.

use std::fmt;
use std::sync::Arc;

use trunkline_wire::backend::{BackendKeyData, ParameterStatus, TransactionStatus};
use trunkline_wire::startup::ProtocolVersion;

use super::error::Misbehaviour;
use crate::authentication::scram::ScramKeys;

/// Most parameters a server may report during login; PostgreSQL 18 reports 16.
pub const PARAMETERS_MAX: usize = 256;
/// Most bytes all their names and values may have together.
pub const PARAMETERS_BYTES_MAX: usize = 64 << 10;

/// What the server said of itself during the login. `Debug` does not show the key.
#[derive(Clone)]
pub struct ServerReady {
    /// Parameters in the order reported, the last value of each; bytes that are not UTF-8 are replaced by U+FFFD.
    pub parameters: Vec<(String, String)>,
    /// The server process; 0 where the server gave no key.
    pub process_id: i32,
    /// The key with which its queries can be cancelled; empty where the server gave none, so that they cannot.
    pub secret_key: Vec<u8>,
    /// Idle, unless the server is an odd one.
    pub status: TransactionStatus,
    /// The protocol spoken.
    pub version: ProtocolVersion,
    /// After SCRAM: the keys used, worth keeping for the next login with the same password.
    pub scram_keys: Option<Arc<ScramKeys>>,
    /// Whether SCRAM was bound to the TLS connection (SCRAM-SHA-256-PLUS).
    pub channel_bound: bool,
}

impl ServerReady {
    pub(super) fn new(version: ProtocolVersion) -> Self {
        Self {
            parameters: Vec::new(),
            process_id: 0,
            secret_key: Vec::new(),
            status: TransactionStatus::Idle,
            version,
            scram_keys: None,
            channel_bound: false,
        }
    }

    /// The value the server reported for a parameter; names are case-insensitive.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn parameter_status(&mut self, message: &ParameterStatus<'_>) -> Result<(), Misbehaviour> {
        let name = String::from_utf8_lossy(message.name);
        let value = String::from_utf8_lossy(message.value).into_owned();
        match self.parameters.iter_mut().find(|(found, _)| *found == name) {
            Some((_, old)) => *old = value,
            None => self.parameters.push((name.into_owned(), value)),
        }
        if self.parameters.len() > PARAMETERS_MAX {
            return Err(Misbehaviour::TooManyParameters);
        }
        let bytes: usize = self.parameters.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > PARAMETERS_BYTES_MAX { Err(Misbehaviour::TooManyParameters) } else { Ok(()) }
    }

    pub(super) fn backend_key_data(&mut self, message: &BackendKeyData<'_>) {
        self.process_id = message.process_id;
        self.secret_key = message.secret_key.to_vec();
    }
}

impl fmt::Debug for ServerReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerReady")
            .field("parameters", &self.parameters)
            .field("process_id", &self.process_id)
            .field("status", &self.status)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
