//! Where bytes go: straight to a socket when they are many, to the outbox when they are few.

use std::sync::Arc;

use trunkline_pool::Micros;
use trunkline_session::Entropy;
use trunkline_wire::frame::Header;
use trunkline_wire::{Limits, OverLimit};

use crate::client::Client;
use crate::counters::Counters;
use crate::outbox::Outbox;
use crate::prepared::{Registry, Schema};
use crate::server::Server;
use crate::{ClientKey, ServerKey};

/// The sockets, as far as large runs of bytes are passed to them without a copy.
pub trait Wires {
    /// Sends to a client; returns how many bytes were taken (0 when it would block or is gone: what
    /// happened to it is reported like any other event, later).
    fn send_client(&mut self, client: ClientKey, bytes: &[u8]) -> usize;
    /// Sends to a server, likewise.
    fn send_server(&mut self, server: ServerKey, bytes: &[u8]) -> usize;
}

/// Runs of bytes from here on are sent where they lie. Below, a copy costs less than a system call.
const DIRECT_BYTES: usize = 16 << 10;

/// Bounds of what a turn may hold in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Named statements kept on a server connection (`max_prepared_statements`); 0: not tracked.
    pub prepared_max: usize,
    /// A Parse message up to this is gathered to be shared (`prepared_statement_bytes_max`); a longer one is passed on.
    pub statement_bytes_max: usize,
    /// How long a statement is shared with those who parse its text anew (`prepared_statement_lifetime`), in
    /// microseconds; 0: for ever.
    pub statement_lifetime: Micros,
    /// Names of statements a client may hold (`client_prepared_statements_max`).
    pub client_statements_max: usize,
    /// What these and their statements may take (`client_prepared_statement_bytes_max`).
    pub client_statements_bytes_max: usize,
    /// Any message at most (`message_bytes_max`).
    pub message_bytes_max: u32,
    /// A turn up to this size can be played again (`replay_bytes_max`); 0: never.
    pub replay_bytes_max: usize,
    /// Turns of a client that may be unanswered before it is not read (`outstanding_turns_max`).
    pub outstanding_turns_max: usize,
    /// Messages of a client that are dealt with in one round of its worker (`round_messages_max`).
    pub round_messages_max: usize,
    /// Turns of a client on a server connection before it gives that back to who waits (`lent_turns_max`).
    pub lent_turns_max: usize,
    /// Bytes of a client that its server has not taken before it is not read (`client_buffer_bytes`).
    pub client_buffer_bytes: usize,
    /// Bytes of a server that its client has not taken before it is not read (`server_buffer_bytes`).
    pub server_buffer_bytes: usize,
}

impl TurnLimits {
    /// Refuses a client's message that is longer than one of its type can be.
    #[inline]
    pub(crate) fn check(&self, header: Header) -> Result<(), OverLimit> {
        Limits { message_bytes: self.message_bytes_max, ..Limits::default() }.check_after_auth(header)
    }
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            prepared_max: 200,
            statement_bytes_max: 1 << 20,
            statement_lifetime: 300_000_000,
            client_statements_max: 10_000,
            client_statements_bytes_max: 256 << 20,
            message_bytes_max: trunkline_wire::limits::MESSAGE_BYTES,
            replay_bytes_max: 16 << 10,
            outstanding_turns_max: 1000,
            round_messages_max: 1000,
            lent_turns_max: 100,
            client_buffer_bytes: 64 << 10,
            server_buffer_bytes: 64 << 10,
        }
    }
}

/// What a step of a turn works with beside the two connections.
pub(crate) struct Path<'a, W> {
    pub(crate) wires: &'a mut W,
    pub(crate) registry: &'a Registry,
    pub(crate) limits: &'a TurnLimits,
    pub(crate) counters: &'a mut Counters,
    pub(crate) entropy: &'a mut (dyn Entropy + Send),
    /// The definitions that the server reads statements by.
    pub(crate) schema: &'a Arc<Schema>,
    pub(crate) client: ClientKey,
    pub(crate) server: ServerKey,
    /// How many more messages of the client are dealt with in this round.
    pub(crate) share: usize,
    pub(crate) replaying: bool,
    /// Others wait for the server connection.
    pub(crate) wanted: bool,
    /// A turn must not leave a transaction open (statement mode).
    pub(crate) no_transactions: bool,
    pub(crate) now: Micros,
}

impl<W: Wires> Path<'_, W> {
    #[inline]
    pub(crate) fn pass_server(&mut self, server: &mut Server, run: &[u8]) {
        self.finish_server(server, run, true);
    }

    #[inline]
    pub(crate) fn pass_client(&mut self, client: &mut Client, run: &[u8]) {
        self.finish_client(client, run, true);
    }

    /// The last run of what was read. When `more` cannot follow at once it needs no outbox, if it is alone.
    #[inline]
    pub(crate) fn finish_server(&mut self, server: &mut Server, run: &[u8], more: bool) {
        self.counters.client_bytes += run.len() as u64;
        deliver(&mut server.outbox, run, more, |bytes| self.wires.send_server(self.server, bytes));
    }

    /// The same, for a client.
    #[inline]
    pub(crate) fn finish_client(&mut self, client: &mut Client, run: &[u8], more: bool) {
        self.counters.server_bytes += run.len() as u64;
        deliver(&mut client.outbox, run, more, |bytes| self.wires.send_client(self.client, bytes));
    }
}

/// Sends a run behind what waits in the outbox if it is long, or if it is alone and no more follows; what is not sent is
/// kept in the outbox.
#[inline]
fn deliver(outbox: &mut Outbox, run: &[u8], more: bool, mut send: impl FnMut(&[u8]) -> usize) {
    let alone = !more && !run.is_empty() && outbox.is_empty();
    let mut rest = run;
    if alone || run.len() >= DIRECT_BYTES {
        if !outbox.is_empty() {
            let sent = send(outbox.pending());
            outbox.advance(sent);
        }
        if outbox.is_empty() {
            rest = &run[send(run).min(run.len())..];
        }
    }
    if !rest.is_empty() {
        outbox.push(rest);
    }
}
