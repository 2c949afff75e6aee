//! CopyData: a piece of copied data, from either side. A server sends one row in each message. A client may cut its
//! data anywhere.

use crate::frame::HEADER_BYTES;
use crate::read::Malformed;
use crate::redact::Redacted;
use crate::write::{self, TooLarge};

/// The type byte of CopyData.
pub const TAG: u8 = b'd';

/// CopyData. `Debug` does not show the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CopyData<'a> {
    /// The data.
    pub data: &'a [u8],
}

impl<'a> CopyData<'a> {
    /// Decodes a body, all of which is data.
    ///
    /// # Errors
    /// None: it returns a `Result` because all messages do.
    pub fn decode(body: &'a [u8]) -> Result<CopyData<'a>, Malformed> {
        Ok(CopyData { data: body })
    }

    /// Appends the message to `out`.
    ///
    /// # Panics
    /// When the data does not fit into a message. Data that was decoded always fits; for other data use
    /// [`try_encode`](CopyData::try_encode).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::bytes(out, self.data);
        write::end(out, mark);
    }

    /// Appends the message to `out`. The data may have any size.
    ///
    /// # Errors
    /// [`TooLarge`] when it does not fit into a message; `out` is then unchanged.
    pub fn try_encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        out.reserve(HEADER_BYTES + self.data.len());
        let mark = write::begin(out, TAG);
        write::bytes(out, self.data);
        write::try_end(out, mark)
    }
}

impl std::fmt::Debug for CopyData<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CopyData").field(&Redacted(self.data.len())).finish()
    }
}
