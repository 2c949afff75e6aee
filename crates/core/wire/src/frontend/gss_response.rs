//! GSSResponse: the client's token of a GSSAPI or SSPI exchange.

use crate::read::Malformed;
use crate::redact::Redacted;
use crate::write;

/// The type byte of GSSResponse. Four messages have this type byte; [`super::PasswordKind`] distinguishes them.
pub const TAG: u8 = b'p';

/// GSSResponse. `Debug` does not show the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GssResponse<'a> {
    /// The token.
    pub data: &'a [u8],
}

impl<'a> GssResponse<'a> {
    /// Decodes a body, all of which is data.
    ///
    /// # Errors
    /// None: it returns a `Result` because all messages do.
    pub fn decode(body: &'a [u8]) -> Result<GssResponse<'a>, Malformed> {
        Ok(GssResponse { data: body })
    }

    /// Appends the message to `out`.
    ///
    /// # Panics
    /// When the data does not fit into a message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::bytes(out, self.data);
        write::end(out, mark);
    }
}

impl std::fmt::Debug for GssResponse<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("GssResponse").field(&Redacted(self.data.len())).finish()
    }
}
