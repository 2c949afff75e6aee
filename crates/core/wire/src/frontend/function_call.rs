//! FunctionCall: calls a function by its object id, without SQL.

use crate::list::{Format, Formats, Values};
use crate::read::{Malformed, Reader};
use crate::write::{self, TooLarge};

/// The type byte of FunctionCall.
pub const TAG: u8 = b'F';

/// FunctionCall. `Debug` does not show the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCall<'a> {
    /// The function's object id.
    pub function: u32,
    /// The formats of the arguments: none (all are text), one for all, or one for each.
    pub argument_formats: Formats<'a>,
    /// The arguments.
    pub arguments: Values<'a>,
    /// The format that the client wants for the result.
    pub result_format: Format,
}

impl<'a> FunctionCall<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a FunctionCall.
    pub fn decode(body: &'a [u8]) -> Result<FunctionCall<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let function = reader.u32("function")?;
        let argument_formats = Formats::read(&mut reader, "argument format")?;
        let arguments = Values::read(&mut reader, "argument")?;
        let result_format = Format(reader.i16("result format")?);
        reader.finish()?;
        Ok(FunctionCall { function, argument_formats, arguments, result_format })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::u32(out, self.function);
        self.argument_formats.append(out);
        self.arguments.append(out);
        write::i16(out, self.result_format.0);
        write::end(out, mark);
    }

    /// Appends a FunctionCall of these fields to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when a list has more than 65,535 items, or when the message has more than 2^31 - 1 bytes; `out` is
    /// then unchanged.
    pub fn write(
        out: &mut Vec<u8>,
        function: u32,
        argument_formats: &[Format],
        arguments: &[Option<&[u8]>],
        result_format: Format,
    ) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::u32(out, function);
            Formats::write(out, argument_formats)?;
            Values::write(out, arguments)?;
            write::i16(out, result_format.0);
            Ok(())
        })
    }
}
