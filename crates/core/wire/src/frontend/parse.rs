//! Parse: prepares a statement.

use crate::list::Oids;
use crate::read::{Malformed, Reader};
use crate::redact::{Name, Redacted};
use crate::write::{self, TooLarge};

/// The type byte of Parse.
pub const TAG: u8 = b'P';

/// Parse. `Debug` does not show the text, which may hold a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Parse<'a> {
    /// The statement's name; empty for the unnamed one.
    pub name: &'a [u8],
    /// The statement's text, in the client's encoding.
    pub query: &'a [u8],
    /// The object ids of the types of its first parameters. For 0 the server finds the type out.
    pub parameter_types: Oids<'a>,
    /// The body after the name's zero byte: query, zero byte, count, types.
    body_after_name: &'a [u8],
}

impl<'a> Parse<'a> {
    /// Decodes a body.
    ///
    /// # Errors
    /// [`Malformed`] when it does not have the form of a Parse.
    #[inline]
    pub fn decode(body: &'a [u8]) -> Result<Parse<'a>, Malformed> {
        let mut reader = Reader::new(body);
        let name = reader.cstr("statement name")?;
        let body_after_name = reader.peek();
        let query = reader.cstr("query text")?;
        let parameter_types = Oids::read(&mut reader, "parameter type")?;
        reader.finish()?;
        Ok(Parse { name, query, parameter_types, body_after_name })
    }

    /// The body after the statement's name. Two Parse messages that prepare the same statement under different names
    /// have the same bytes here.
    #[inline]
    #[must_use]
    pub fn body_after_name(&self) -> &'a [u8] {
        self.body_after_name
    }

    /// Appends the message to `out`.
    #[inline]
    pub fn encode(&self, out: &mut Vec<u8>) {
        write_renamed(out, self.name, self.body_after_name);
    }

    /// Appends a Parse of these fields to `out`.
    ///
    /// # Errors
    /// [`TooLarge`] when there are more than 65,535 types, or when the message has more than 2^31 - 1 bytes; `out` is
    /// then unchanged.
    pub fn write(
        out: &mut Vec<u8>,
        name: &[u8],
        query: &[u8],
        parameter_types: &[u32],
    ) -> Result<(), TooLarge> {
        write::try_message(out, TAG, |out| {
            write::cstr(out, name);
            write::cstr(out, query);
            Oids::write(out, parameter_types)
        })
    }
}

/// Appends a Parse to `out` that prepares a statement under `name`. `body_after_name` is what
/// [`Parse::body_after_name`] returned.
///
/// # Panics
/// When the message has more than 2^31 - 1 bytes.
#[inline]
pub fn write_renamed(out: &mut Vec<u8>, name: &[u8], body_after_name: &[u8]) {
    let mark = write::begin(out, TAG);
    write::cstr(out, name);
    write::bytes(out, body_after_name);
    write::end(out, mark);
}

/// Appends the beginning of a Parse to `out`: header and name. The caller must send the rest of the body after it.
///
/// `length` is the length field of the message with this name.
#[inline]
pub fn encode_prefix(out: &mut Vec<u8>, length: u32, name: &[u8]) {
    write::u8(out, TAG);
    write::u32(out, length);
    write::cstr(out, name);
}

impl std::fmt::Debug for Parse<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parse")
            .field("name", &Name(self.name))
            .field("query", &Redacted(self.query.len()))
            .field("parameter_types", &self.parameter_types)
            .finish()
    }
}
