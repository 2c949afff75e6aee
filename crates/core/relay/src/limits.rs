//! Bounds of a turn.

use trunkline_pool::Micros;
use trunkline_wire::frame::Header;
use trunkline_wire::{Limits, OverLimit};

/// Bounds of what a turn may hold in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Named statements kept on a server connection (`max_prepared_statements`); 0: not tracked.
    pub prepared_max: usize,
    /// A Parse message up to this is gathered to be shared (`prepared_statement_bytes_max`); a longer one is passed on.
    pub statement_bytes_max: usize,
    /// How long a statement is shared with those who parse its text again (`prepared_statement_lifetime`);
    /// `None`: for ever.
    pub statement_lifetime: Option<Micros>,
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
    /// Bytes of texts that are parsed in one round of a worker (`round_parse_bytes_max`).
    pub round_parse_bytes_max: usize,
    /// A longer text is not parsed: it may do anything (`classified_text_bytes_max`).
    pub classified_text_bytes_max: usize,
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
            statement_lifetime: Some(300_000_000),
            client_statements_max: 10_000,
            client_statements_bytes_max: 256 << 20,
            message_bytes_max: trunkline_wire::limits::MESSAGE_BYTES,
            replay_bytes_max: 16 << 10,
            outstanding_turns_max: 1000,
            round_messages_max: 1000,
            lent_turns_max: 100,
            round_parse_bytes_max: 64 << 10,
            classified_text_bytes_max: 64 << 10,
            client_buffer_bytes: 64 << 10,
            server_buffer_bytes: 64 << 10,
        }
    }
}
