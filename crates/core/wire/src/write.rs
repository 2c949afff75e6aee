//! Appends a message to a buffer: call [`begin`], then write the fields, then call [`end`].
//!
//! ```
//! use trunkline_wire::write;
//!
//! let mut out = Vec::new();
//! let mark = write::begin(&mut out, b'Q');
//! write::cstr(&mut out, b"select 1");
//! write::end(&mut out, mark);
//! assert_eq!(out, b"Q\0\0\0\x0dselect 1\0");
//! ```

use std::fmt;

use crate::frame::{HEADER_BYTES, LENGTH_MAX, LENGTH_MIN};

/// The position where a message begins; [`end`] needs it to fill in the length.
#[derive(Debug)]
#[must_use = "a message without its `end` has no length"]
pub struct Mark {
    /// The offset of its first byte in the buffer.
    start: usize,
    /// The offset of its length field: after the tag, if it has one.
    length: usize,
}

/// Begins a message of type `tag`.
#[inline]
pub fn begin(out: &mut Vec<u8>, tag: u8) -> Mark {
    let start = out.len();
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    Mark { start, length: start + 1 }
}

/// Begins a message with bytes that were prepared before: its header and its first fields. The length in this header
/// is ignored; [`end`] overwrites it.
///
/// # Panics
/// When `beginning` is shorter than a header.
#[inline]
pub fn begin_with(out: &mut Vec<u8>, beginning: &[u8]) -> Mark {
    assert!(beginning.len() >= HEADER_BYTES, "a message begins with its header");
    let start = out.len();
    out.extend_from_slice(beginning);
    Mark { start, length: start + 1 }
}

/// Begins a message without a type: the first packet of a connection.
#[inline]
pub fn begin_untagged(out: &mut Vec<u8>) -> Mark {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    Mark { start, length: start }
}

/// Ends a message: fills in its length.
///
/// # Panics
/// When the message is longer than 2^31 - 1 bytes. With a length that wrapped around, the receiver would read the
/// rest of the body as further messages. A decoded message never becomes that long. If the fields come from
/// elsewhere, use [`try_end`].
#[inline]
#[allow(clippy::needless_pass_by_value)] // Taking the mark makes a second `end` impossible.
pub fn end(out: &mut Vec<u8>, mark: Mark) {
    assert!(try_end(out, mark).is_ok(), "a message is longer than 2^31 - 1 bytes");
}

/// Ends a message whose fields may be of any size.
///
/// # Errors
/// [`TooLarge`] when it is longer than 2^31 - 1 bytes; the message is then removed from `out`.
#[inline]
#[allow(clippy::needless_pass_by_value)] // As in `end`.
pub fn try_end(out: &mut Vec<u8>, mark: Mark) -> Result<(), TooLarge> {
    try_end_with(out, mark, &[], 0)
}

/// Ends a message with bytes that were prepared before. The last `following_bytes` of `tail` are not part of this
/// message: they are further messages.
///
/// # Errors
/// [`TooLarge`] as [`try_end`]; the message and `tail` are then removed from `out`.
#[inline]
#[allow(clippy::needless_pass_by_value)] // As in `end`.
pub fn try_end_with(
    out: &mut Vec<u8>,
    mark: Mark,
    tail: &[u8],
    following_bytes: usize,
) -> Result<(), TooLarge> {
    out.extend_from_slice(tail);
    let bytes = out.len().saturating_sub(mark.length).saturating_sub(following_bytes);
    match (u32::try_from(bytes), out.get_mut(mark.length..mark.length + 4)) {
        (Ok(length @ LENGTH_MIN..=LENGTH_MAX), Some(field)) => {
            field.copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        _ => {
            out.truncate(mark.start);
            Err(TooLarge { what: "message", size: bytes, max: LENGTH_MAX as usize })
        }
    }
}

/// Removes an unfinished message: `out` is again as it was before [`begin`].
#[allow(clippy::needless_pass_by_value)] // As in `end`.
pub fn abandon(out: &mut Vec<u8>, mark: Mark) {
    out.truncate(mark.start);
}

/// The frame of a message that has no body.
#[must_use]
pub const fn empty_frame(tag: u8) -> [u8; HEADER_BYTES] {
    [tag, 0, 0, 0, 4]
}

/// One byte.
#[inline]
pub fn u8(out: &mut Vec<u8>, value: u8) {
    out.push(value);
}

/// A big-endian signed 16-bit integer.
#[inline]
pub fn i16(out: &mut Vec<u8>, value: i16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// A big-endian unsigned 16-bit integer, such as a count.
#[inline]
pub fn u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// A big-endian signed 32-bit integer.
#[inline]
pub fn i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// A big-endian unsigned 32-bit integer, such as an object id.
#[inline]
pub fn u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// A big-endian signed 64-bit integer.
#[inline]
pub fn i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Bytes, without a length or an end.
#[inline]
pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(value);
}

/// A string and the zero byte that ends it.
///
/// The protocol cannot carry a zero byte inside a string. If `text` has one, the string ends there, as with libpq,
/// and the message stays well-formed. If the string comes from a user, check it with [`has_zero`] first.
#[inline]
pub fn cstr(out: &mut Vec<u8>, text: &[u8]) {
    let start = out.len();
    out.extend_from_slice(text);
    out.push(0);
    if let Ok(found) = std::ffi::CStr::from_bytes_until_nul(out.get(start..).unwrap_or_default()) {
        let bytes = found.to_bytes_with_nul().len();
        out.truncate(start + bytes);
    }
}

/// Whether `text` has a zero byte, which no string of the protocol can carry.
#[must_use]
pub fn has_zero(text: &[u8]) -> bool {
    text.contains(&0)
}

/// A value: its length and its bytes, or -1 for NULL.
///
/// # Errors
/// [`TooLarge`] when it is longer than 2^31 - 1 bytes; nothing is then written.
#[inline]
pub fn value(out: &mut Vec<u8>, value: Option<&[u8]>) -> Result<(), TooLarge> {
    let Some(bytes) = value else {
        i32(out, -1);
        return Ok(());
    };
    let Ok(length) = i32::try_from(bytes.len()) else {
        return Err(TooLarge { what: "value", size: bytes.len(), max: LENGTH_MAX as usize });
    };
    i32(out, length);
    out.extend_from_slice(bytes);
    Ok(())
}

/// The count before a list, as the protocol's 16-bit integer.
///
/// # Errors
/// [`TooLarge`] when it is more than 65,535; nothing is then written.
#[inline]
pub fn count(out: &mut Vec<u8>, count: usize) -> Result<(), TooLarge> {
    let Ok(short) = u16::try_from(count) else {
        return Err(TooLarge { what: "list", size: count, max: u16::MAX.into() });
    };
    u16(out, short);
    Ok(())
}

/// A length or a count that does not fit into the protocol's integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What was too large: a message, a value or a list.
    pub what: &'static str,
    /// Its size: bytes, or items of a list.
    pub size: usize,
    /// The largest size the protocol can express.
    pub max: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.what == "list" { "items" } else { "bytes" };
        write!(
            f,
            "a {} of {} {unit} cannot be sent: the protocol's limit is {}",
            self.what, self.size, self.max
        )
    }
}

impl std::error::Error for TooLarge {}

/// Writes the items of a module for a message without a body.
macro_rules! empty_message {
    ($tag:literal, $name:literal) => {
        #[doc = concat!("The type byte of ", $name, ".")]
        pub const TAG: u8 = $tag;

        #[doc = concat!("A complete ", $name, ", which has no body.")]
        pub const FRAME: [u8; $crate::frame::HEADER_BYTES] = $crate::write::empty_frame(TAG);

        #[doc = concat!("Appends ", $name, " to `out`.")]
        #[inline]
        pub fn encode(out: &mut Vec<u8>) {
            out.extend_from_slice(&FRAME);
        }

        #[doc = concat!("Checks the body of ", $name, ".")]
        ///
        /// # Errors
        /// [`Malformed`](crate::Malformed) when it is not empty.
        #[inline]
        pub fn decode(body: &[u8]) -> Result<(), $crate::Malformed> {
            $crate::read::Reader::new(body).finish()
        }
    };
}
pub(crate) use empty_message;

/// Writes a message whose fields `fields` writes. After an error `out` is unchanged.
pub(crate) fn try_message(
    out: &mut Vec<u8>,
    tag: u8,
    fields: impl FnOnce(&mut Vec<u8>) -> Result<(), TooLarge>,
) -> Result<(), TooLarge> {
    let mark = begin(out, tag);
    match fields(out) {
        Ok(()) => try_end(out, mark),
        Err(error) => {
            abandon(out, mark);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_counts_itself_and_not_the_tag() {
        let mut out = vec![1, 2, 3];
        let mark = begin(&mut out, b'S');
        end(&mut out, mark);
        assert_eq!(out, [1, 2, 3, b'S', 0, 0, 0, 4]);
        let mark = begin_untagged(&mut out);
        i32(&mut out, 5);
        end(&mut out, mark);
        assert_eq!(out[8..], [0, 0, 0, 8, 0, 0, 0, 5]);
    }

    #[test]
    fn a_message_of_an_impossible_length_is_removed() {
        let mut out = vec![7];
        let mark = begin(&mut out, b'Q');
        // A message shorter than its own length field is out of range too, and needs no 2 GiB of memory.
        out.truncate(4);
        let error = try_end(&mut out, mark).expect_err("no such length");
        assert_eq!((error.what, error.size), ("message", 2));
        assert_eq!(out, [7]);
    }

    #[test]
    fn a_zero_byte_ends_a_string_and_cannot_break_the_frame() {
        let mut out = Vec::new();
        cstr(&mut out, b"ab\0c");
        assert_eq!(out, b"ab\0");
        assert!(has_zero(b"ab\0c") && !has_zero(b"abc"));
    }

    #[test]
    fn a_list_that_does_not_fit_leaves_the_buffer_unchanged() {
        let mut out = vec![7];
        let error = try_message(&mut out, b'B', |out| count(out, 65_536)).expect_err("one too many");
        assert_eq!((error.size, error.max), (65_536, 65_535));
        assert_eq!(out, [7]);
    }
}
