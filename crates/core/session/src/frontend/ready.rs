//! What is known of a server connection after the login.

use std::fmt;
use std::sync::Arc;

use trunkline_wire::backend::{BackendKeyData, ParameterStatus, TransactionStatus};
use trunkline_wire::startup::ProtocolVersion;

use super::error::Misbehaviour;
use crate::authentication::scram::ScramKeys;

/// The highest number of parameters that a server may report. PostgreSQL 18 reports 16.
pub const PARAMETERS_MAX: usize = 256;
/// The highest number of bytes of all their names and values together.
pub const PARAMETERS_BYTES_MAX: usize = 64 << 10;

/// What the server reported during the login. `Debug` does not show the cancel key.
#[derive(Clone)]
pub struct ServerReady {
    /// The parameters in the order in which the server first reported them, each with its latest value. Bytes that
    /// are not UTF-8 are replaced by U+FFFD.
    pub parameters: Vec<(String, String)>,
    /// The process id of the server process; 0 if the server sent no cancel key.
    pub process_id: i32,
    /// The cancel key. It is empty if the server sent none; queries cannot be cancelled then.
    pub secret_key: Vec<u8>,
    /// The status in the first ReadyForQuery. PostgreSQL always reports idle.
    pub status: TransactionStatus,
    /// The protocol version of the connection.
    pub version: ProtocolVersion,
    /// The keys, after SCRAM. Keep them for the next login with the same password: it is then faster.
    pub scram_keys: Option<Arc<ScramKeys>>,
    /// Whether SCRAM used channel binding (SCRAM-SHA-256-PLUS).
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

    /// The value that the server reported for a parameter. Names are case-insensitive.
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
