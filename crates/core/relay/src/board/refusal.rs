//! Turning clients away, with a reason that helps.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use trunkline_wire::backend::ErrorResponse;
use trunkline_wire::sqlstate::SqlState;

use super::Board;
use crate::ClientKey;
use crate::board::Shared;
use crate::shown::{REASON_BYTES_MAX, cut};

/// Bounds that can turn a client away, end it, or make it or a server connection wait, by the names of their settings.
pub(crate) const BOUNDS: [&str; 25] = [
    "max_client_conn",
    "unauthenticated_conn_max",
    "max_db_client_connections",
    "max_user_client_connections",
    "max_db_connections",
    "max_user_connections",
    "query_wait_timeout",
    "client_login_timeout",
    "client_idle_timeout",
    "idle_transaction_timeout",
    "query_timeout",
    "cancel_requests_max",
    "abandoned_turn_timeout",
    "message_bytes_max",
    "prepared_statement_bytes_max",
    "client_prepared_statements_max",
    "client_prepared_statement_bytes_max",
    "client_buffer_bytes",
    "server_buffer_bytes",
    "outstanding_turns_max",
    "round_messages_max",
    "lent_turns_max",
    "pools_max",
    "unproven_lookups_max",
    "auth_cache_bytes_max",
];

impl Shared {
    /// How often each bound has struck since the start: name and count.
    pub fn limits_hit(&self) -> impl Iterator<Item = (&'static str, u64)> {
        BOUNDS.iter().zip(&self.limits_hit).map(|(name, count)| (*name, count.load(Relaxed)))
    }

    pub(crate) fn hit(&self, bound: &str) {
        if let Some(at) = BOUNDS.iter().position(|name| *name == bound) {
            self.limits_hit[at].fetch_add(1, Relaxed);
        }
    }
}

/// Why a client is turned away.
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
    /// Tells a client why, and closes it.
    pub(super) fn refuse(&mut self, key: ClientKey, refusal: &Refusal<'_>) {
        let Some(client) = self.clients.get_mut(key) else { return };
        self.logins_failed += u64::from(client.login.is_some());
        let server = client.answered_by().and_then(|server| self.servers.get(server));
        // An answer that is cut in the middle leaves no room for a message.
        if !server.is_some_and(|server| server.rest.is_passed() && server.speaks_to() == Some(key)) {
            refusal.encode(true, client.outbox.buffer());
        }
        let why = cut(&refusal.message, REASON_BYTES_MAX);
        self.debug(format!("client {key:?} is closed: {why} ({})", refusal.code.as_str()));
        self.close_client(key);
    }
}
