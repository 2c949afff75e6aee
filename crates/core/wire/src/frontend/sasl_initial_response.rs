//! SASLInitialResponse: the mechanism that the client has chosen, and the first data if the client begins the exchange.

use crate::read::{Malformed, Reader};
use crate::redact::{Name, Redacted};
use crate::write::{self, TooLarge};

/// The type byte of SASLInitialResponse. Four messages have this type byte; [`super::PasswordKind`] distinguishes them.
pub const TAG: u8 = b'p';

/// SASLInitialResponse. `Debug` does not show the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SaslInitialResponse<'a> {
    /// The mechanism.
    pub mechanism: &'a [u8],
    /// The first data, if the client begins the exchange.
    pub data: Option<&'a [u8]>,
}

impl<'a> SaslInitialResponse<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a SASLInitialResponse.
    pub fn decode(body: &'a [u8]) -> Result<SaslInitialResponse<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let mechanism = reader.cstr("SASL mechanism")?;
        let data = reader.value("SASL data")?;
        reader.finish()?;
        Ok(SaslInitialResponse { mechanism, data })
    }

    /// Appends the message to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when the data does not fit into a message; `out` is then unchanged. Data that was decoded always
    /// fits.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::cstr(out, self.mechanism);
            write::value(out, self.data)
        })
    }
}

impl std::fmt::Debug for SaslInitialResponse<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaslInitialResponse")
            .field("mechanism", &Name(self.mechanism))
            .field("data", &self.data.map(|data| Redacted(data.len())))
            .finish()
    }
}
