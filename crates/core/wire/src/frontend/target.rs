//! What a Close or a Describe names: a prepared statement or a portal.

use crate::read::{Malformed, Problem, Reader};

/// What the name in a Close or a Describe belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Target {
    /// A prepared statement.
    Statement = b'S',
    /// A portal.
    Portal = b'P',
}

impl Target {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Target, Malformed> {
        let start = *reader;
        match reader.u8("kind of target")? {
            b'S' => Ok(Target::Statement),
            b'P' => Ok(Target::Portal),
            _ => Err(start.malformed("kind of target", Problem::Value)),
        }
    }

    /// The byte in the message.
    #[inline]
    #[must_use]
    pub fn as_byte(self) -> u8 {
        self as u8
    }
}
