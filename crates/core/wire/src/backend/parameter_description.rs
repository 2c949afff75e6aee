//! ParameterDescription: the types of a statement's parameters.

use crate::list::Oids;
use crate::read::{Malformed, Reader};
use crate::write::{self, TooLarge};

/// The type byte of ParameterDescription.
pub const TAG: u8 = b't';

/// ParameterDescription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterDescription<'a> {
    /// The object id of each parameter's type.
    pub types: Oids<'a>,
}

impl<'a> ParameterDescription<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when the number of types is not the number that the message gives.
    pub fn decode(body: &'a [u8]) -> Result<ParameterDescription<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let types = Oids::read(&mut reader, "parameter type")?;
        reader.finish()?;
        Ok(ParameterDescription { types })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        self.types.append(out);
        write::end(out, mark);
    }

    /// Appends a ParameterDescription of these types to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when there are more than 65,535; `out` is then unchanged.
    pub fn write(out: &mut Vec<u8>, types: &[u32]) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| Oids::write(out, types))
    }
}
