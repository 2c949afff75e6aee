//! NotificationResponse: a NOTIFY on a channel that the client listens to. A server may send it at any time.

use crate::read::{Malformed, Reader};
use crate::redact::{Name, Redacted};
use crate::write;

/// The type byte of NotificationResponse.
pub const TAG: u8 = b'A';

/// NotificationResponse. `Debug` does not show the payload.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotificationResponse<'a> {
    /// The process id of the server process whose session ran NOTIFY.
    pub process_id: i32,
    /// The channel.
    pub channel: &'a [u8],
    /// The text that NOTIFY gave; often empty.
    pub payload: &'a [u8],
}

impl<'a> NotificationResponse<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a NotificationResponse.
    pub fn decode(body: &'a [u8]) -> Result<NotificationResponse<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let process_id = reader.i32("process id")?;
        let channel = reader.cstr("channel")?;
        let payload = reader.cstr("payload")?;
        reader.finish()?;
        Ok(NotificationResponse { process_id, channel, payload })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::i32(out, self.process_id);
        write::cstr(out, self.channel);
        write::cstr(out, self.payload);
        write::end(out, mark);
    }
}

impl std::fmt::Debug for NotificationResponse<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NotificationResponse")
            .field("process_id", &self.process_id)
            .field("channel", &Name(self.channel))
            .field("payload", &Redacted(self.payload.len()))
            .finish()
    }
}
