//! FunctionCallResponse: what a function returned.

use crate::read::{Malformed, Reader};
use crate::redact::Redacted;
use crate::write::{self, TooLarge};

/// The type byte of FunctionCallResponse.
pub const TAG: u8 = b'V';

/// FunctionCallResponse. `Debug` does not show the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FunctionCallResponse<'a> {
    /// The result, in the format that the client asked for; `None` is NULL.
    pub value: Option<&'a [u8]>,
}

impl<'a> FunctionCallResponse<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not exactly one value.
    pub fn decode(body: &'a [u8]) -> Result<FunctionCallResponse<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let value = reader.value("function result")?;
        reader.finish()?;
        Ok(FunctionCallResponse { value })
    }

    /// Appends the message to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when the value does not fit into a message; `out` is then unchanged. A value that was decoded
    /// always fits.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| write::value(out, self.value))
    }
}

impl std::fmt::Debug for FunctionCallResponse<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FunctionCallResponse").field(&self.value.map(|value| Redacted(value.len()))).finish()
    }
}
