//! Refuses clients, with an error that says why.

use std::borrow::Cow;

use trunkline_wire::backend::ErrorResponse;
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use crate::keys::ClientKey;
use crate::shown::{REASON_BYTES_MAX, shorten};

/// The error for a client that is refused.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    pub(crate) code: SqlState,
    pub(crate) message: Cow<'a, str>,
    pub(crate) hint: Option<&'static str>,
}

impl<'a> Refusal<'a> {
    pub(crate) fn new(code: SqlState, message: impl Into<Cow<'a, str>>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub(crate) fn encode(&self, fatal: bool, out: &mut Vec<u8>) {
        let message: &str = &self.message;
        let report = match fatal {
            true => ErrorResponse::fatal(self.code, message),
            false => ErrorResponse::error(self.code, message),
        };
        match self.hint {
            Some(hint) => report.hint(hint).encode(out),
            None => report.encode(out),
        }
    }
}

impl Board {
    /// Sends the error to a client and closes it.
    pub(super) fn refuse(&mut self, key: ClientKey, refusal: &Refusal<'_>) {
        let Some(client) = self.clients.get_mut(key) else { return };
        self.logins_failed += u64::from(client.login.is_some());
        let server = client.answered_by().and_then(|server| self.servers.get(server));
        // No other message can follow when the client has got only a part of a message of the server.
        if !server.is_some_and(|server| server.rest.is_passed() && server.next_receiver() == Some(key)) {
            refusal.encode(true, client.outbox.buffer());
        }
        let why = shorten(&refusal.message, REASON_BYTES_MAX);
        self.debug(format!("client {key:?} is closed: {why} ({})", refusal.code.as_str()));
        self.close_client(key);
    }
}
