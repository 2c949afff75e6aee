//! BackendKeyData: what a client must send to cancel its query.

use std::fmt;

use crate::read::{Malformed, Reader};
use crate::redact::Redacted;
use crate::startup::read_secret_key;
use crate::write;

/// The type byte of BackendKeyData.
pub const TAG: u8 = b'K';

/// BackendKeyData. `Debug` does not show the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BackendKeyData<'a> {
    /// The process id of the server process. A pooler may put another number here.
    pub process_id: i32,
    /// The key: 4 bytes in protocol 3.0, 4 to 256 in 3.2.
    pub secret_key: &'a [u8],
}

impl<'a> BackendKeyData<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is too short or the key longer than 256 bytes.
    pub fn decode(body: &'a [u8]) -> Result<BackendKeyData<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let process_id = reader.i32("process id")?;
        Ok(BackendKeyData { process_id, secret_key: read_secret_key(reader)? })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::i32(out, self.process_id);
        write::bytes(out, self.secret_key);
        write::end(out, mark);
    }
}

impl fmt::Debug for BackendKeyData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackendKeyData")
            .field("process_id", &self.process_id)
            .field("secret_key", &Redacted(self.secret_key.len()))
            .finish()
    }
}
