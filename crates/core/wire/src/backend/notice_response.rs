//! NoticeResponse: a warning or other information. A server may send it at any time.

use std::borrow::Cow;
use std::ops::Deref;

use super::error_fields::{ErrorFields, ErrorReport};
use crate::read::Malformed;
use crate::sqlstate::SqlState;

/// The type byte of NoticeResponse.
pub const TAG: u8 = b'N';

/// NoticeResponse. The methods of [`ErrorFields`] read its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeResponse<'a> {
    /// The message's fields.
    pub fields: ErrorFields<'a>,
}

impl<'a> NoticeResponse<'a> {
    /// Decodes a body. A message without fields is well-formed.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a list of fields that ends with the body.
    pub fn decode(body: &'a [u8]) -> Result<NoticeResponse<'a>, Malformed> {
        Ok(NoticeResponse { fields: ErrorFields::decode(body)? })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.fields.encode(out, TAG);
    }
}

impl<'a> Deref for NoticeResponse<'a> {
    type Target = ErrorFields<'a>;

    fn deref(&self) -> &ErrorFields<'a> {
        &self.fields
    }
}

impl NoticeResponse<'_> {
    /// Makes a warning. [`ErrorReport::encode_notice`] writes it.
    #[must_use]
    pub fn warning<'m>(code: SqlState, message: impl Into<Cow<'m, str>>) -> ErrorReport<'m> {
        ErrorReport::new("WARNING", code, message)
    }

    /// Makes a notice. [`ErrorReport::encode_notice`] writes it.
    #[must_use]
    pub fn notice<'m>(code: SqlState, message: impl Into<Cow<'m, str>>) -> ErrorReport<'m> {
        ErrorReport::new("NOTICE", code, message)
    }
}
