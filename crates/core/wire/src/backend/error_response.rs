//! ErrorResponse: a command or the connection has failed.

use std::borrow::Cow;
use std::ops::Deref;

use super::error_fields::{ErrorFields, ErrorReport};
use crate::read::Malformed;
use crate::sqlstate::SqlState;

/// The type byte of ErrorResponse.
pub const TAG: u8 = b'E';

/// ErrorResponse. The methods of [`ErrorFields`] read its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorResponse<'a> {
    /// The message's fields.
    pub fields: ErrorFields<'a>,
}

impl<'a> ErrorResponse<'a> {
    /// Decodes a body. A message without fields is well-formed.
    ///
    /// # Errors
    /// [`Malformed`] when it is not a list of fields that ends with the body.
    pub fn decode(body: &'a [u8]) -> Result<ErrorResponse<'a>, Malformed> {
        Ok(ErrorResponse { fields: ErrorFields::decode(body)? })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.fields.encode(out, TAG);
    }
}

impl<'a> Deref for ErrorResponse<'a> {
    type Target = ErrorFields<'a>;

    fn deref(&self) -> &ErrorFields<'a> {
        &self.fields
    }
}

impl ErrorResponse<'_> {
    /// Makes an error after which we close the connection.
    #[must_use]
    pub fn fatal<'m>(code: SqlState, message: impl Into<Cow<'m, str>>) -> ErrorReport<'m> {
        ErrorReport::new("FATAL", code, message)
    }

    /// Makes an error after which the connection stays open.
    #[must_use]
    pub fn error<'m>(code: SqlState, message: impl Into<Cow<'m, str>>) -> ErrorReport<'m> {
        ErrorReport::new("ERROR", code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_sqlstate_is_decoded() {
        let error = ErrorResponse::decode(b"SFATAL\0Mno\0\0").expect("well-formed");
        assert_eq!(error.code(), None);
        assert_eq!(error.severity(), Some(&b"FATAL"[..]));
        assert_eq!(error.message(), b"no");
        let bare = ErrorResponse::decode(b"\0").expect("well-formed");
        assert_eq!((bare.code(), bare.severity(), bare.message()), (None, None, &b""[..]));
        let odd = ErrorResponse::decode(b"C57p01\0\0").expect("well-formed");
        assert_eq!(odd.code(), None);
    }

    #[test]
    fn the_untranslated_severity_is_preferred() {
        let error = ErrorResponse::decode(b"SFEHLER\0VERROR\0\0").expect("well-formed");
        assert_eq!(error.severity(), Some(&b"ERROR"[..]));
    }

    #[test]
    fn a_report_can_be_read_back() {
        let mut out = Vec::new();
        ErrorResponse::error(SqlState::SYNTAX_ERROR, "bad")
            .detail("d")
            .hint("h")
            .position(3)
            .field(0, "never sent")
            .encode(&mut out);
        let error = ErrorResponse::decode(&out[5..]).expect("well-formed");
        let fields: Vec<_> = error.iter().collect();
        let expected: [(u8, &[u8]); 7] = [
            (b'S', b"ERROR"),
            (b'V', b"ERROR"),
            (b'C', b"42601"),
            (b'M', b"bad"),
            (b'D', b"d"),
            (b'H', b"h"),
            (b'P', b"3"),
        ];
        assert_eq!(fields, expected);
    }
}
