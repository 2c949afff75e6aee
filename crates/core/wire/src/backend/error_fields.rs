//! The fields of ErrorResponse and NoticeResponse.

use std::borrow::Cow;
use std::fmt;

use crate::read::{Malformed, Reader};
use crate::redact::Name;
use crate::sqlstate::SqlState;
use crate::write;

/// The bytes that say which field follows.
pub mod field {
    /// The severity, perhaps in the server's language.
    pub const SEVERITY: u8 = b'S';
    /// The severity, always in English; since PostgreSQL 9.6.
    pub const SEVERITY_NONLOCALIZED: u8 = b'V';
    /// The SQLSTATE.
    pub const CODE: u8 = b'C';
    /// What happened, in one line.
    pub const MESSAGE: u8 = b'M';
    /// More about what happened.
    pub const DETAIL: u8 = b'D';
    /// What to do about it.
    pub const HINT: u8 = b'H';
    /// The position in the query's text, in characters from 1.
    pub const POSITION: u8 = b'P';
    /// The position in the text of a query that the server itself made.
    pub const INTERNAL_POSITION: u8 = b'p';
    /// The text of that query.
    pub const INTERNAL_QUERY: u8 = b'q';
    /// What the server was doing: one line for each call.
    pub const WHERE: u8 = b'W';
    /// The schema of the object that the error is about.
    pub const SCHEMA: u8 = b's';
    /// The table.
    pub const TABLE: u8 = b't';
    /// The column.
    pub const COLUMN: u8 = b'c';
    /// The data type.
    pub const DATA_TYPE: u8 = b'd';
    /// The constraint.
    pub const CONSTRAINT: u8 = b'n';
    /// The source file of the server that reported the error.
    pub const FILE: u8 = b'F';
    /// The line in that file.
    pub const LINE: u8 = b'L';
    /// The routine in that file.
    pub const ROUTINE: u8 = b'R';
}

/// The fields in the order in which they came. Any field may be missing, even the SQLSTATE: servers other than
/// PostgreSQL leave some out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ErrorFields<'a> {
    /// Each field is a byte, a string and a zero byte. The zero byte that ends the message is not part of this.
    bytes: &'a [u8],
}

impl<'a> ErrorFields<'a> {
    pub(super) fn decode(body: &'a [u8]) -> Result<ErrorFields<'a>, Malformed> {
        let mut reader = Reader::new(body);
        while reader.u8("field type")? != 0 {
            reader.cstr("field value")?;
        }
        let bytes = body.get(..reader.offset() - 1).unwrap_or_default();
        reader.finish()?;
        Ok(ErrorFields { bytes })
    }

    pub(super) fn encode(self, out: &mut Vec<u8>, tag: u8) {
        let mark = write::begin(out, tag);
        write::bytes(out, self.bytes);
        write::u8(out, 0);
        write::end(out, mark);
    }

    /// Goes through the fields and returns the kind of each (see [`field`]) and its text.
    #[must_use]
    pub fn iter(&self) -> Fields<'a> {
        Fields { reader: Reader::new(self.bytes) }
    }

    /// The text of the first field of this kind (see [`field`]).
    #[must_use]
    pub fn field(&self, kind: u8) -> Option<&'a [u8]> {
        self.iter().find(|(found, _)| *found == kind).map(|(_, text)| text)
    }

    /// `ERROR`, `FATAL`, `PANIC`, `WARNING`, `NOTICE`, `DEBUG`, `INFO` or `LOG`; in the server's language when the
    /// server is older than PostgreSQL 9.6.
    #[must_use]
    pub fn severity(&self) -> Option<&'a [u8]> {
        self.field(field::SEVERITY_NONLOCALIZED).or_else(|| self.field(field::SEVERITY))
    }

    /// The SQLSTATE, if there is a valid one.
    #[must_use]
    pub fn code(&self) -> Option<SqlState> {
        SqlState::new(self.field(field::CODE)?)
    }

    /// What happened; empty if the server did not say.
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.field(field::MESSAGE).unwrap_or_default()
    }
}

/// `Debug` shows severity, SQLSTATE and message, but no details, because they may quote data.
impl fmt::Debug for ErrorFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorFields")
            .field("severity", &Name(self.severity().unwrap_or_default()))
            .field("code", &self.code())
            .field("message", &Name(self.message()))
            .finish_non_exhaustive()
    }
}

impl<'a> IntoIterator for ErrorFields<'a> {
    type Item = (u8, &'a [u8]);
    type IntoIter = Fields<'a>;

    fn into_iter(self) -> Fields<'a> {
        self.iter()
    }
}

/// An iterator over fields: the kind of each, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    reader: Reader<'a>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        // `decode` has checked these bytes, so an error can only mean that none are left.
        let kind = self.reader.u8("field type").ok()?;
        Some((kind, self.reader.cstr("field value").ok()?))
    }
}

/// An error or notice that this program makes and sends to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReport<'a> {
    severity: &'static str,
    code: SqlState,
    message: Cow<'a, str>,
    /// The fields that [`ErrorReport::field`] added, in that order.
    more: Vec<(u8, Cow<'a, str>)>,
}

impl<'a> ErrorReport<'a> {
    /// Begins a report. `severity` is one of the words of [`ErrorFields::severity`].
    #[must_use]
    pub fn new(severity: &'static str, code: SqlState, message: impl Into<Cow<'a, str>>) -> ErrorReport<'a> {
        ErrorReport { severity, code, message: message.into(), more: Vec::new() }
    }

    /// Adds the field "detail": more about what happened.
    #[must_use]
    pub fn detail(self, text: impl Into<Cow<'a, str>>) -> ErrorReport<'a> {
        self.field(field::DETAIL, text)
    }

    /// Adds the field "hint": what to do about it.
    #[must_use]
    pub fn hint(self, text: impl Into<Cow<'a, str>>) -> ErrorReport<'a> {
        self.field(field::HINT, text)
    }

    /// Adds the position of the error in the query's text, in characters from 1.
    #[must_use]
    pub fn position(self, characters: usize) -> ErrorReport<'a> {
        self.field(field::POSITION, characters.to_string())
    }

    /// Adds any other field. A field of kind 0 is left out, because that byte ends the list.
    #[must_use]
    pub fn field(mut self, kind: u8, text: impl Into<Cow<'a, str>>) -> ErrorReport<'a> {
        if kind != 0 {
            self.more.push((kind, text.into()));
        }
        self
    }

    /// The SQLSTATE.
    #[must_use]
    pub fn code(&self) -> SqlState {
        self.code
    }

    /// What happened.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The severity.
    #[must_use]
    pub fn severity(&self) -> &'static str {
        self.severity
    }

    /// Appends the report to `out` as an ErrorResponse.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_as(out, super::error_response::TAG);
    }

    /// Appends the report to `out` as a NoticeResponse.
    pub fn encode_notice(&self, out: &mut Vec<u8>) {
        self.encode_as(out, super::notice_response::TAG);
    }

    fn encode_as(&self, out: &mut Vec<u8>, tag: u8) {
        let mark = write::begin(out, tag);
        let first = [
            (field::SEVERITY, self.severity.as_bytes()),
            (field::SEVERITY_NONLOCALIZED, self.severity.as_bytes()),
            (field::CODE, self.code.as_bytes()),
            (field::MESSAGE, self.message.as_bytes()),
        ];
        let more = self.more.iter().map(|(kind, text)| (*kind, text.as_bytes()));
        for (kind, text) in first.into_iter().chain(more) {
            write::u8(out, kind);
            write::cstr(out, text);
        }
        write::u8(out, 0);
        write::end(out, mark);
    }
}

impl fmt::Display for ErrorReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (SQLSTATE {})", self.severity, self.message, self.code)
    }
}
