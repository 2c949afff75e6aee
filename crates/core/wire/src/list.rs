//! The counted lists inside messages, as iterators. `decode` has checked their bytes before.
//!
//! Each list is `Copy`: to go through one twice, copy it. Counts are unsigned 16-bit integers, as PostgreSQL reads
//! them.

use std::fmt;

use crate::read::{Malformed, Reader};
use crate::redact::Redacted;
use crate::write::{self, TooLarge};

/// How a value is written: as text or in the type's binary form.
///
/// Only 0 and 1 have a meaning. Other codes are passed on, so that the server refuses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format(pub i16);

impl Format {
    /// Text: what the type's output function returns.
    pub const TEXT: Format = Format(0);
    /// Binary: what the type's send function returns.
    pub const BINARY: Format = Format(1);
}

/// Object ids of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oids<'a> {
    bytes: &'a [u8],
}

impl<'a> Oids<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Oids<'a>, Malformed> {
        let count = reader.u16(field)?;
        Ok(Oids { bytes: reader.bytes(usize::from(count) * 4, field)? })
    }

    pub(crate) fn append(self, out: &mut Vec<u8>) {
        append_counted(out, self.len(), self.bytes);
    }

    pub(crate) fn write(out: &mut Vec<u8>, oids: &[u32]) -> Result<(), TooLarge> {
        write::count(out, oids.len())?;
        for &oid in oids {
            write::u32(out, oid);
        }
        Ok(())
    }
}

impl Iterator for Oids<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (head, rest) = self.bytes.split_first_chunk::<4>()?;
        self.bytes = rest;
        Some(u32::from_be_bytes(*head))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.bytes.len() / 4;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Oids<'_> {}

/// Format codes: none (all values are text), one for all values, or one for each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats<'a> {
    bytes: &'a [u8],
}

impl<'a> Formats<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Formats<'a>, Malformed> {
        let count = reader.u16(field)?;
        Ok(Formats { bytes: reader.bytes(usize::from(count) * 2, field)? })
    }

    pub(crate) fn append(self, out: &mut Vec<u8>) {
        append_counted(out, self.len(), self.bytes);
    }

    pub(crate) fn write(out: &mut Vec<u8>, formats: &[Format]) -> Result<(), TooLarge> {
        write::count(out, formats.len())?;
        for format in formats {
            write::i16(out, format.0);
        }
        Ok(())
    }
}

impl Iterator for Formats<'_> {
    type Item = Format;

    #[inline]
    fn next(&mut self) -> Option<Format> {
        let (head, rest) = self.bytes.split_first_chunk::<2>()?;
        self.bytes = rest;
        Some(Format(i16::from_be_bytes(*head)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.bytes.len() / 2;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Formats<'_> {}

/// Values, such as the columns of a row or the parameters of a Bind. `None` is NULL.
///
/// `Debug` shows their number and size, not the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Values<'a> {
    /// How many are left.
    count: u16,
    /// The values that are left, each with its length before it.
    bytes: &'a [u8],
}

impl<'a> Values<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>, field: &'static str) -> Result<Values<'a>, Malformed> {
        let count = reader.u16(field)?;
        let body = reader.peek();
        let start = reader.offset();
        for _ in 0..count {
            reader.value(field)?;
        }
        let bytes = body.get(..reader.offset() - start).unwrap_or_default();
        Ok(Values { count, bytes })
    }

    pub(crate) fn append(self, out: &mut Vec<u8>) {
        append_counted(out, self.len(), self.bytes);
    }

    pub(crate) fn write(out: &mut Vec<u8>, values: &[Option<&[u8]>]) -> Result<(), TooLarge> {
        write::count(out, values.len())?;
        values.iter().try_for_each(|value| write::value(out, *value))
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Option<&'a [u8]>> {
        self.count = self.count.checked_sub(1)?;
        let mut reader = Reader::new(self.bytes);
        // `read` has checked these bytes, so this cannot fail.
        let value = reader.value("value").ok()?;
        self.bytes = reader.peek();
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count.into(), Some(self.count.into()))
    }
}

impl ExactSizeIterator for Values<'_> {}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values")
            .field("count", &self.count)
            .field("bytes", &Redacted(self.bytes.len()))
            .finish()
    }
}

/// Strings, each with a zero byte after it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Strings<'a> {
    /// The strings that are left, each with its zero byte. Nothing follows the last one.
    bytes: &'a [u8],
}

impl<'a> Strings<'a> {
    /// `bytes` must be strings that were checked, each with its zero byte.
    pub(crate) fn new(bytes: &'a [u8]) -> Strings<'a> {
        Strings { bytes }
    }

    /// Reads `count` strings.
    pub(crate) fn read_counted(
        reader: &mut Reader<'a>,
        count: u32,
        field: &'static str,
    ) -> Result<Strings<'a>, Malformed> {
        let body = reader.peek();
        let start = reader.offset();
        for _ in 0..count {
            reader.cstr(field)?;
        }
        Ok(Strings { bytes: body.get(..reader.offset() - start).unwrap_or_default() })
    }

    /// Reads strings up to and including an empty one, which is not part of the list.
    pub(crate) fn read_terminated(
        reader: &mut Reader<'a>,
        field: &'static str,
    ) -> Result<Strings<'a>, Malformed> {
        let body = reader.peek();
        let start = reader.offset();
        while !reader.cstr(field)?.is_empty() {}
        Ok(Strings { bytes: body.get(..reader.offset() - start - 1).unwrap_or_default() })
    }

    /// The bytes of the strings, with the zero byte of each.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.bytes);
        let text = reader.cstr("string").ok()?;
        self.bytes = reader.peek();
        Some(text)
    }
}

impl fmt::Debug for Strings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.map(crate::redact::Name)).finish()
    }
}

/// Writes a count and the bytes of that many items. `count` fits into 16 bits: it was read from 16 bits, and an
/// iterator has at most made it smaller.
fn append_counted(out: &mut Vec<u8>, count: usize, bytes: &[u8]) {
    debug_assert!(count <= usize::from(u16::MAX));
    write::u16(out, u16::try_from(count).unwrap_or(u16::MAX));
    write::bytes(out, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_order_and_their_count_goes_down() {
        let body = b"\0\x03\0\0\0\x01a\xff\xff\xff\xff\0\0\0\0";
        let mut values = Values::read(&mut Reader::new(body), "value").expect("well-formed");
        assert_eq!(values.len(), 3);
        assert_eq!(values.next(), Some(Some(&b"a"[..])));
        assert_eq!(values.len(), 2);
        let mut rest = Vec::new();
        values.append(&mut rest);
        assert_eq!(rest, b"\0\x02\xff\xff\xff\xff\0\0\0\0");
        assert_eq!(values.collect::<Vec<_>>(), [None, Some(&b""[..])]);
    }

    #[test]
    fn counts_are_unsigned() {
        let mut body = vec![0xff, 0xff];
        body.resize(2 + 65_535 * 4, 0);
        let oids = Oids::read(&mut Reader::new(&body), "type").expect("65,535 of them");
        assert_eq!(oids.len(), 65_535);
    }

    #[test]
    fn an_empty_string_ends_a_terminated_list() {
        let mut reader = Reader::new(b"a\0bc\0\0rest");
        let strings = Strings::read_terminated(&mut reader, "name").expect("terminated");
        assert_eq!(strings.collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
        assert_eq!(reader.rest(), b"rest");
    }

    #[test]
    fn debug_shows_no_value() {
        let body = b"\0\x01\0\0\0\x06secret";
        let values = Values::read(&mut Reader::new(body), "value").expect("well-formed");
        assert_eq!(format!("{values:?}"), "Values { count: 1, bytes: <10 bytes> }");
    }
}
