//! Bounds on what clients' turns may use.

use trunkline_pool::Micros;
use trunkline_wire::frame::Header;
use trunkline_wire::{Limits, OverLimit};

/// Bounds on memory, and on what one round of a worker does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Named statements that a server connection keeps (`max_prepared_statements`). 0: we do not track statements.
    pub prepared_max: usize,
    /// A Parse message up to this size is received completely, so that clients can share its statement
    /// (`prepared_statement_bytes_max`). A longer one is passed on as it comes.
    pub statement_bytes_max: usize,
    /// How long a client that sends the same Parse gets the existing statement (`prepared_statement_lifetime`). `None`: for
    /// ever.
    pub statement_lifetime: Option<Micros>,
    /// Named statements that a client may have (`client_prepared_statements_max`).
    pub client_statements_max: usize,
    /// Bytes that these names and their statements may take (`client_prepared_statement_bytes_max`).
    pub client_statements_bytes_max: usize,
    /// The greatest size of any message (`message_bytes_max`).
    pub message_bytes_max: u32,
    /// A turn up to this size can be repeated (`replay_bytes_max`). 0: no turn can.
    pub replay_bytes_max: usize,
    /// With this many unanswered turns of a client, we stop reading from it (`outstanding_turns_max`).
    pub outstanding_turns_max: usize,
    /// Messages of a client that we process in one round of its worker (`round_messages_max`).
    pub round_messages_max: usize,
    /// After this many turns a client gives its server connection back if other clients wait (`lent_turns_max`).
    pub lent_turns_max: usize,
    /// Bytes of SQL texts that we parse in one round of a worker (`round_parse_bytes_max`).
    pub round_parse_bytes_max: usize,
    /// We do not parse a longer SQL text, and assume that it may do anything (`classified_text_bytes_max`).
    pub classified_text_bytes_max: usize,
    /// With this many bytes from a client that its server has not taken, we stop reading from the client
    /// (`client_buffer_bytes`).
    pub client_buffer_bytes: usize,
    /// With this many bytes from a server that its client has not taken, we stop reading from the server
    /// (`server_buffer_bytes`).
    pub server_buffer_bytes: usize,
}

impl TurnLimits {
    /// Refuses a client's message that is too long for its type.
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
