//! CopyFail: the client ends its COPY FROM STDIN with an error.

use crate::read::{Malformed, Reader};
use crate::redact::Redacted;
use crate::write::{self, TooLarge};

/// The type byte of CopyFail.
pub const TAG: u8 = b'f';

/// CopyFail. `Debug` does not show the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CopyFail<'a> {
    /// The reason; the server's error message repeats it.
    pub message: &'a [u8],
}

impl<'a> CopyFail<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not exactly one string.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<CopyFail<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let message = reader.cstr("reason")?;
        reader.finish()?;
        Ok(CopyFail { message })
    }

    /// Appends the message to `out`.
    ///
    /// # Panics
    /// When the text does not fit into a message. A text that was decoded always fits; for other texts use
    /// [`try_encode`](CopyFail::try_encode).
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.message);
        write::end(out, mark);
    }

    /// Appends the message to `out`. The text may have any size.
    ///
    /// # Errors
    /// [`TooLarge`] when it does not fit into a message; `out` is then unchanged.
    pub fn try_encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::cstr(out, self.message);
            Ok(())
        })
    }
}

impl std::fmt::Debug for CopyFail<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CopyFail").field(&Redacted(self.message.len())).finish()
    }
}
