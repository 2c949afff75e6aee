//! CopyOutResponse: the server sends copied data next.

use super::copy_response::{self, CopyResponse};
use crate::list::{Format, Formats};
use crate::read::Malformed;
use crate::write::TooLarge;

/// The type byte of CopyOutResponse.
pub const TAG: u8 = b'H';

/// CopyOutResponse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOutResponse<'a> {
    /// Text (rows are lines) or binary.
    pub format: Format,
    /// The format of each column.
    pub column_formats: Formats<'a>,
}

impl<'a> CopyOutResponse<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a CopyOutResponse.
    pub fn decode(body: &'a [u8]) -> Result<CopyOutResponse<'a>, Malformed> {
        let CopyResponse { format, column_formats } = copy_response::decode(body)?;
        Ok(CopyOutResponse { format, column_formats })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        copy_response::encode(out, TAG, self.format, self.column_formats);
    }

    /// Appends a CopyOutResponse of these columns to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when there are more than 65,535 columns; `out` is then unchanged.
    pub fn write(out: &mut Vec<u8>, format: Format, column_formats: &[Format]) -> Result<(), TooLarge> {
        copy_response::write(out, TAG, format, column_formats)
    }
}
