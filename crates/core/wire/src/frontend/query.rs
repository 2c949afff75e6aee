//! Query: run this text, which may hold several statements.

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
    /// [`Malformed`] when it is not one string.
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
    /// When the text is longer than a message can be, which text that was decoded is not; see
    /// [`try_encode`](Query::try_encode).
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.text);
        write::end(out, mark);
    }

    /// Appends the message to `out`, the text being of any size.
    ///
    /// # Errors
    /// [`TooLarge`] when it is longer than a message can be; `out` is then as it was.
    pub fn try_encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        write::fallible(out, TAG, |out| {
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
