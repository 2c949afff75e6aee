//! Close: destroys a statement or a portal.

use super::target::Target;
use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::write;

/// The type byte of Close.
pub const TAG: u8 = b'C';

/// Close.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Close<'a> {
    /// Whether the name is a statement's or a portal's.
    pub target: Target,
    /// The name; empty for the unnamed one.
    pub name: &'a [u8],
}

impl<'a> Close<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a Close.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<Close<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let target = Target::read(&mut reader)?;
        let name = reader.cstr("name")?;
        reader.finish()?;
        Ok(Close { target, name })
    }

    /// Appends the message to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::u8(out, self.target.as_byte());
        write::cstr(out, self.name);
        write::end(out, mark);
    }
}

impl std::fmt::Debug for Close<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Close").field("target", &self.target).field("name", &Name(self.name)).finish()
    }
}
