//! SASLResponse: the client's answer to a SASL challenge.

use crate::read::Malformed;
use crate::redact::Redacted;
use crate::write;

/// The type byte of SASLResponse. Four messages have this type byte; [`super::PasswordKind`] distinguishes them.
pub const TAG: u8 = b'p';

/// SASLResponse. `Debug` does not show the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SaslResponse<'a> {
    /// The answer, in the form that the mechanism defines.
    pub data: &'a [u8],
}

impl<'a> SaslResponse<'a> {
    /// Decodes a body, all of which is data.
    ///
    /// # Errors
    /// None: it returns a `Result` because all messages do.
    pub fn decode(body: &'a [u8]) -> Result<SaslResponse<'a>, Malformed> {
        Ok(SaslResponse { data: body })
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

impl std::fmt::Debug for SaslResponse<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SaslResponse").field(&Redacted(self.data.len())).finish()
    }
}
