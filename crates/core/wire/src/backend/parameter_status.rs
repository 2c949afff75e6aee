//! ParameterStatus: the value of a parameter that the server reports, at login and whenever it changes.

use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::write;

/// The type byte of ParameterStatus.
pub const TAG: u8 = b'S';

/// ParameterStatus.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ParameterStatus<'a> {
    /// The parameter's name as the server spells it, such as `DateStyle`.
    pub name: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
}

impl<'a> ParameterStatus<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it is not exactly two strings.
    pub fn decode(body: &'a [u8]) -> Result<ParameterStatus<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let name = reader.cstr("parameter name")?;
        let value = reader.cstr("parameter value")?;
        reader.finish()?;
        Ok(ParameterStatus { name, value })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.name);
        write::cstr(out, self.value);
        write::end(out, mark);
    }
}

impl std::fmt::Debug for ParameterStatus<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParameterStatus")
            .field("name", &Name(self.name))
            .field("value", &Name(self.value))
            .finish()
    }
}
