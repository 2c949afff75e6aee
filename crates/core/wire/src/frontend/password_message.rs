//! PasswordMessage: the password, in clear text or hashed with MD5.

use crate::read::{Malformed, Reader};
use crate::redact::Redacted;
use crate::write::{self, TooLarge};

/// The type byte of PasswordMessage. Four messages have this type byte; [`super::PasswordKind`] distinguishes them.
pub const TAG: u8 = b'p';

/// PasswordMessage. `Debug` does not show the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PasswordMessage<'a> {
    /// The password, or `md5` and 32 hexadecimal digits.
    pub password: &'a [u8],
}

impl<'a> PasswordMessage<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not exactly one string.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<PasswordMessage<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let password = reader.cstr("password")?;
        reader.finish()?;
        Ok(PasswordMessage { password })
    }

    /// Appends the message to `out`.
    ///
    /// # Panics
    /// When the text does not fit into a message. A text that was decoded always fits; for other texts use
    /// [`try_encode`](PasswordMessage::try_encode).
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.password);
        write::end(out, mark);
    }

    /// Appends the message to `out`. The text may have any size.
    ///
    /// # Errors
    /// [`TooLarge`] when it does not fit into a message; `out` is then unchanged.
    pub fn try_encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::cstr(out, self.password);
            Ok(())
        })
    }
}

impl std::fmt::Debug for PasswordMessage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PasswordMessage").field(&Redacted(self.password.len())).finish()
    }
}
