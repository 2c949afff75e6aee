//! Describe: asks for the parameters of a statement, and for the columns that a statement or a portal returns.

use super::target::Target;
use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::write;

/// The type byte of Describe.
pub const TAG: u8 = b'D';

/// Describe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Describe<'a> {
    /// Whether the name is a statement's or a portal's.
    pub target: Target,
    /// The name; empty for the unnamed one.
    pub name: &'a [u8],
}

impl<'a> Describe<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a Describe.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<Describe<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let target = Target::read(&mut reader)?;
        let name = reader.cstr("name")?;
        reader.finish()?;
        Ok(Describe { target, name })
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

impl std::fmt::Debug for Describe<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Describe").field("target", &self.target).field("name", &Name(self.name)).finish()
    }
}
