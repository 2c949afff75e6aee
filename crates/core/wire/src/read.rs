//! Reads the body of a message, field by field. Every length is checked before it is used.

use std::ffi::CStr;
use std::fmt;

/// A cursor over a message's body.
///
/// Each method takes the name of the field that it reads, so that an error can name the field.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// What has not been read yet.
    rest: &'a [u8],
    /// Bytes read so far.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte of `body`.
    #[inline]
    #[must_use]
    pub fn new(body: &'a [u8]) -> Reader<'a> {
        Reader { rest: body, at: 0 }
    }

    /// Bytes read so far.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether every byte has been read.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The error for `problem` in `field`, which begins at the current offset.
    #[cold]
    #[must_use]
    pub fn malformed(&self, field: &'static str, problem: Problem) -> Malformed {
        Malformed { field, offset: u32::try_from(self.at).unwrap_or(u32::MAX), problem }
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.malformed(field, Problem::Truncated));
        };
        self.rest = rest;
        self.at += N;
        Ok(*head)
    }

    /// One byte.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8, Malformed> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// A big-endian signed 16-bit integer.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn i16(&mut self, field: &'static str) -> Result<i16, Malformed> {
        self.array(field).map(i16::from_be_bytes)
    }

    /// A big-endian unsigned 16-bit integer. PostgreSQL reads counts like this, although the manual calls them Int16.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16, Malformed> {
        self.array(field).map(u16::from_be_bytes)
    }

    /// A big-endian signed 32-bit integer.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn i32(&mut self, field: &'static str) -> Result<i32, Malformed> {
        self.array(field).map(i32::from_be_bytes)
    }

    /// A big-endian unsigned 32-bit integer, such as an object id.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn u32(&mut self, field: &'static str) -> Result<u32, Malformed> {
        self.array(field).map(u32::from_be_bytes)
    }

    /// A big-endian signed 64-bit integer.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn i64(&mut self, field: &'static str) -> Result<i64, Malformed> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// Exactly `N` bytes, such as a salt.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn exactly<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        self.array(field)
    }

    /// A string up to its zero byte, which is read but not returned. The string is in the client's encoding, so it is
    /// returned as bytes.
    ///
    /// # Errors
    /// [`Problem::Unterminated`] when no zero byte is left in the body.
    #[inline]
    pub fn cstr(&mut self, field: &'static str) -> Result<&'a [u8], Malformed> {
        // The standard library searches a word at a time, which is faster than a loop over bytes.
        let Ok(found) = CStr::from_bytes_until_nul(self.rest) else {
            return Err(self.malformed(field, Problem::Unterminated));
        };
        let text = found.to_bytes();
        self.rest = self.rest.get(text.len() + 1..).unwrap_or_default();
        self.at += text.len() + 1;
        Ok(text)
    }

    /// A string up to its zero byte; it must be UTF-8.
    ///
    /// # Errors
    /// [`Problem::Unterminated`] when no zero byte is left, [`Problem::NotUtf8`] when the bytes are not UTF-8.
    pub fn str(&mut self, field: &'static str) -> Result<&'a str, Malformed> {
        let start = *self;
        let text = self.cstr(field)?;
        std::str::from_utf8(text).map_err(|_| start.malformed(field, Problem::NotUtf8))
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`Problem::Truncated`] when fewer are left.
    #[inline]
    pub fn bytes(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], Malformed> {
        let Some((head, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.malformed(field, Problem::Truncated));
        };
        self.rest = rest;
        self.at += count;
        Ok(head)
    }

    /// A value: its length as a 32-bit integer, then that many bytes. The length -1 means NULL.
    ///
    /// # Errors
    /// [`Problem::Value`] for any other negative length, [`Problem::Truncated`] when the body ends first.
    #[inline]
    pub fn value(&mut self, field: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
        let start = *self;
        let length = self.i32(field)?;
        if length == -1 {
            return Ok(None);
        }
        let Ok(count) = usize::try_from(length) else {
            return Err(start.malformed(field, Problem::Value));
        };
        self.bytes(count, field).map(Some)
    }

    /// Reads everything that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = std::mem::take(&mut self.rest);
        self.at += rest.len();
        rest
    }

    /// The bytes that are left. They are not counted as read.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> &'a [u8] {
        self.rest
    }

    /// Checks that the body has been read completely.
    ///
    /// # Errors
    /// [`Problem::TrailingBytes`] when bytes are left over.
    #[inline]
    pub fn finish(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("end", Problem::TrailingBytes)) }
    }
}

/// A body that does not have the form of its message type.
///
/// The error holds no bytes of the message, so it is safe to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The field that was being read, in the manual's words.
    pub field: &'static str,
    /// Where that field begins, in bytes from the beginning of the body.
    pub offset: u32,
    /// What was wrong with it.
    pub problem: Problem,
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The body ends before the field does.
    Truncated,
    /// A string has no zero byte at its end.
    Unterminated,
    /// A string that must be UTF-8 is not.
    NotUtf8,
    /// The message has been read, and bytes are left over.
    TrailingBytes,
    /// The protocol does not allow this value here.
    Value,
    /// A name is longer than [`crate::limits::STREAMED_NAMES_BYTES_MAX`].
    NameTooLong,
    /// No message of this type exists in this direction.
    UnknownType,
}

impl Problem {
    fn words(self) -> &'static str {
        match self {
            Problem::Truncated => "the message ends in the middle of it",
            Problem::Unterminated => "the string has no zero byte at its end",
            Problem::NotUtf8 => "the string is not valid UTF-8",
            Problem::TrailingBytes => "bytes are left over after the message's last field",
            Problem::Value => "the protocol does not allow this value",
            Problem::NameTooLong => "the name is too long",
            Problem::UnknownType => "no such message type exists in this direction",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "malformed {} at byte {} of the message body: {}",
            self.field,
            self.offset,
            self.problem.words()
        )
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order_and_the_offset_follows() {
        let mut reader = Reader::new(b"\x01\xff\xfe\0\0\0\x07name\0rest");
        assert_eq!(reader.u8("a"), Ok(1));
        assert_eq!(reader.i16("b"), Ok(-2));
        assert_eq!(reader.i32("c"), Ok(7));
        assert_eq!(reader.cstr("d"), Ok(&b"name"[..]));
        assert_eq!(reader.offset(), 12);
        assert_eq!(reader.peek(), b"rest");
        assert!(reader.finish().is_err());
        assert_eq!(reader.rest(), b"rest");
        assert!(reader.finish().is_ok());
    }

    #[test]
    fn an_error_names_the_field_and_where_it_begins() {
        let mut reader = Reader::new(b"\0\0ab");
        assert_eq!(reader.u16("count"), Ok(0));
        let error = reader.cstr("name").expect_err("no zero byte is left");
        assert_eq!(error, Malformed { field: "name", offset: 2, problem: Problem::Unterminated });
        assert!(error.to_string().contains("name at byte 2"));
    }

    #[test]
    fn a_value_is_null_only_at_minus_one() {
        assert_eq!(Reader::new(b"\xff\xff\xff\xff").value("v"), Ok(None));
        assert_eq!(Reader::new(b"\0\0\0\0").value("v"), Ok(Some(&b""[..])));
        for (bytes, problem) in [
            (&b"\xff\xff\xff\xfe"[..], Problem::Value),
            (b"\0\0\0\x02a", Problem::Truncated),
            (b"\0", Problem::Truncated),
        ] {
            assert_eq!(Reader::new(bytes).value("v").expect_err("refused").problem, problem);
        }
    }

    #[test]
    fn str_requires_utf8() {
        assert_eq!(Reader::new("größe\0".as_bytes()).str("s"), Ok("größe"));
        assert_eq!(
            Reader::new(b"\xff\0").str("s"),
            Err(Malformed { field: "s", offset: 0, problem: Problem::NotUtf8 })
        );
    }
}
