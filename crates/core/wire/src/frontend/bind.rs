//! Bind: makes a portal from a statement and values for its parameters.

use crate::frame::{HEADER_BYTES, Header, LENGTH_MAX, LENGTH_MIN};
use crate::limits::STREAMED_NAMES_BYTES_MAX;
use crate::list::{Format, Formats, Values};
use crate::read::{Malformed, Problem, Reader};
use crate::redact::Name;
use crate::write::{self, TooLarge};

/// The type byte of Bind.
pub const TAG: u8 = b'B';

/// Bind. `Debug` does not show the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bind<'a> {
    /// The portal to make; empty for the unnamed one.
    pub portal: &'a [u8],
    /// The statement; empty for the unnamed one.
    pub statement: &'a [u8],
    /// The formats of the values: none (all values are text), one for all values, or one for each value.
    pub parameter_formats: Formats<'a>,
    /// The parameters' values.
    pub values: Values<'a>,
    /// The formats that the client wants for the columns: none (all are text), one for all, or one for each.
    pub result_formats: Formats<'a>,
}

impl<'a> Bind<'a> {
    /// Decodes a whole body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a Bind.
    pub fn decode(body: &'a [u8]) -> Result<Bind<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let portal = reader.cstr("portal")?;
        let statement = reader.cstr("statement name")?;
        let parameter_formats = Formats::read(&mut reader, "parameter format")?;
        let values = Values::read(&mut reader, "parameter value")?;
        let result_formats = Formats::read(&mut reader, "result format")?;
        reader.finish()?;
        Ok(Bind { portal, statement, parameter_formats, values, result_formats })
    }

    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mark = write::begin(out, TAG);
        write::cstr(out, self.portal);
        write::cstr(out, self.statement);
        self.parameter_formats.append(out);
        self.values.append(out);
        self.result_formats.append(out);
        write::end(out, mark);
    }

    /// Appends a Bind of these fields to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when a list has more than 65,535 items, or when the message has more than 2^31 - 1 bytes; `out` is
    /// then unchanged.
    pub fn write(
        out: &mut Vec<u8>,
        portal: &[u8],
        statement: &[u8],
        parameter_formats: &[Format],
        values: &[Option<&[u8]>],
        result_formats: &[Format],
    ) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::cstr(out, portal);
            write::cstr(out, statement);
            Formats::write(out, parameter_formats)?;
            Values::write(out, values)?;
            Formats::write(out, result_formats)
        })
    }
}

impl std::fmt::Debug for Bind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bind")
            .field("portal", &Name(self.portal))
            .field("statement", &Name(self.statement))
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}

/// The names at the beginning of a Bind. To send the Bind with other names, only these must have arrived: the values
/// after them are passed on unread.
///
/// ```text
///   header   portal 0   statement 0   formats, values, formats
///  +--------+----------+-------------+-------------------------+
///  | B  len |          |             |  passed on as it is     |
///  +--------+----------+-------------+-------------------------+
///           |<--- names_bytes ------>|
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BindNames<'a> {
    /// The portal to make; empty for the unnamed one.
    pub portal: &'a [u8],
    /// The statement; empty for the unnamed one.
    pub statement: &'a [u8],
    /// The number of bytes of both names, with their zero bytes.
    pub names_bytes: usize,
}

impl<'a> BindNames<'a> {
    /// Decodes the names from the part of a body that has arrived. `Ok(None)` means that part of the names is missing.
    ///
    /// # Errors
    /// [`Problem::NameTooLong`] when the names do not end within [`STREAMED_NAMES_BYTES_MAX`] bytes.
    #[inline]
    pub fn decode(prefix: &'a [u8]) -> Result<Option<BindNames<'a>>, Malformed> {
        let window = prefix.get(..STREAMED_NAMES_BYTES_MAX).unwrap_or(prefix);
        let mut reader = Reader::new(window);
        let Ok(portal) = reader.cstr("portal") else {
            return unfinished_name(reader, "portal", prefix);
        };
        let Ok(statement) = reader.cstr("statement name") else {
            return unfinished_name(reader, "statement name", prefix);
        };
        Ok(Some(BindNames { portal, statement, names_bytes: reader.offset() }))
    }

    /// The length field (it counts itself) of this message with other names. `header` is the header with which the
    /// message came. `None` when the new length is too large, or when the body is shorter than its names.
    #[inline]
    #[must_use]
    pub fn renamed_length(&self, header: Header, portal: &[u8], statement: &[u8]) -> Option<u32> {
        let values_bytes = header.body_bytes().checked_sub(self.names_bytes)?;
        let length = values_bytes + portal.len() + statement.len() + 2 + LENGTH_MIN as usize;
        u32::try_from(length).ok().filter(|length| *length <= LENGTH_MAX)
    }
}

impl std::fmt::Debug for BindNames<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BindNames")
            .field("portal", &Name(self.portal))
            .field("statement", &Name(self.statement))
            .field("names_bytes", &self.names_bytes)
            .finish()
    }
}

fn unfinished_name<'a>(
    reader: Reader<'_>,
    field: &'static str,
    prefix: &[u8],
) -> Result<Option<BindNames<'a>>, Malformed> {
    if prefix.len() < STREAMED_NAMES_BYTES_MAX {
        Ok(None)
    } else {
        Err(reader.malformed(field, Problem::NameTooLong))
    }
}

/// Appends the beginning of a Bind to `out`: header and names. The caller must send the rest of the body after it.
///
/// `length` is the length field: [`BindNames::renamed_length`] returns it for the same names.
#[inline]
pub fn encode_prefix(out: &mut Vec<u8>, length: u32, portal: &[u8], statement: &[u8]) {
    out.reserve(HEADER_BYTES + portal.len() + statement.len() + 2);
    write::u8(out, TAG);
    write::u32(out, length);
    write::cstr(out, portal);
    write::cstr(out, statement);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bind_is_renamed_without_its_values() {
        let mut original = Vec::new();
        let values: &[Option<&[u8]>] = &[Some(b"42"), None];
        Bind::write(&mut original, b"p", b"mine", &[], values, &[Format::BINARY]).expect("fits");
        let header = crate::frame::header(&original).expect("valid").expect("whole");
        let names = BindNames::decode(&original[5..]).expect("short names").expect("whole");
        assert_eq!((names.portal, names.statement, names.names_bytes), (&b"p"[..], &b"mine"[..], 7));

        let length = names.renamed_length(header, b"", b"shared_1").expect("fits");
        let mut renamed = Vec::new();
        encode_prefix(&mut renamed, length, b"", b"shared_1");
        renamed.extend_from_slice(&original[5 + names.names_bytes..]);

        let mut expected = Vec::new();
        Bind::write(&mut expected, b"", b"shared_1", &[], values, &[Format::BINARY]).expect("fits");
        assert_eq!(renamed, expected);
    }

    #[test]
    fn incomplete_names_are_waited_for_up_to_a_limit() {
        for bytes in 0..5 {
            assert_eq!(BindNames::decode(&b"ab\0cd\0"[..bytes]), Ok(None));
        }
        let endless = vec![b'x'; STREAMED_NAMES_BYTES_MAX];
        assert_eq!(BindNames::decode(&endless[1..]), Ok(None));
        let error = BindNames::decode(&endless).expect_err("too long");
        assert_eq!(error.problem, Problem::NameTooLong);

        // The same error even if the end of the name has arrived too: the result must not depend on how bytes arrive.
        let mut late = endless;
        late.extend(b"\0\0");
        assert_eq!(BindNames::decode(&late), Err(error));
        let mut just = vec![b'x'; STREAMED_NAMES_BYTES_MAX - 2];
        just.extend(b"\0\0more");
        let names = BindNames::decode(&just).expect("within the limit").expect("whole");
        assert_eq!(names.names_bytes, STREAMED_NAMES_BYTES_MAX);
    }

    #[test]
    fn a_length_that_does_not_fit_is_none() {
        let names = BindNames { portal: b"", statement: b"", names_bytes: 2 };
        let header = Header { tag: TAG, length: LENGTH_MAX };
        assert_eq!(names.renamed_length(header, b"", b""), Some(LENGTH_MAX));
        assert_eq!(names.renamed_length(header, b"", b"x"), None);
        assert_eq!(names.renamed_length(Header { tag: TAG, length: 5 }, b"", b""), None);
    }
}
