//! DataRow: one row of a result.

use crate::list::Values;
use crate::read::{Malformed, Reader};
use crate::write::{self, TooLarge};

/// The type byte of DataRow.
pub const TAG: u8 = b'D';

/// DataRow. `Debug` does not show the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRow<'a> {
    /// The columns' values, in the formats that RowDescription or Bind gave.
    pub values: Values<'a>,
}

impl<'a> DataRow<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when the number of values is not the number that the message gives.
    pub fn decode(body: &'a [u8]) -> Result<DataRow<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let values = Values::read(&mut reader, "column value")?;
        reader.finish()?;
        Ok(DataRow { values })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        self.values.append(out);
        write::end(out, mark);
    }

    /// Appends a DataRow of these values to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when there are more than 65,535, or when the message has more than 2^31 - 1 bytes; `out`
    /// is then unchanged.
    pub fn write(out: &mut Vec<u8>, values: &[Option<&[u8]>]) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| Values::write(out, values))
    }
}
