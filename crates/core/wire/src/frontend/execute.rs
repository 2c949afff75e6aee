//! Execute: runs a portal.

use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::write;

/// The type byte of Execute.
pub const TAG: u8 = b'E';

/// Execute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Execute<'a> {
    /// The portal; empty for the unnamed one.
    pub portal: &'a [u8],
    /// How many rows the server may send before PortalSuspended. 0 means no limit; so does a negative number, as
    /// PostgreSQL reads it.
    pub max_rows: i32,
}

impl<'a> Execute<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of an Execute.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<Execute<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let portal = reader.cstr("portal")?;
        let max_rows = reader.i32("number of rows")?;
        reader.finish()?;
        Ok(Execute { portal, max_rows })
    }

    /// Appends the message to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.portal);
        write::i32(out, self.max_rows);
        write::end(out, mark);
    }
}

impl std::fmt::Debug for Execute<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execute")
            .field("portal", &Name(self.portal))
            .field("max_rows", &self.max_rows)
            .finish()
    }
}
