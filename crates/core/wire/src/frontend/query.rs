//! Query: runs a text, which may hold several statements.

use crate::read::{Malformed, Reader};
use crate::redact::Redacted;
use crate::write::{self, TooLarge};

/// The type byte of Query.
pub const TAG: u8 = b'Q';

/// Query. `Debug` does not show the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// The statements, in the client's encoding.
    pub text: &'a [u8],
}

impl<'a> Query<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not exactly one string.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<Query<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let text = reader.cstr("query text")?;
        reader.finish()?;
        Ok(Query { text })
    }

    /// Appends the message to `out`.
    ///
    /// # Panics
    /// When the text does not fit into a message. A text that was decoded always fits; for other texts use
    /// [`try_encode`](Query::try_encode).
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.text);
        write::end(out, mark);
    }

    /// Appends the message to `out`. The text may have any size.
    ///
    /// # Errors
    /// [`TooLarge`] when it does not fit into a message; `out` is then unchanged.
    pub fn try_encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::cstr(out, self.text);
            Ok(())
        })
    }
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Query").field(&Redacted(self.text.len())).finish()
    }
}
