//! The header of every message except a connection's first: one byte for the type, four for the length.
//!
//! ```text
//!   tag   length (big-endian)   body
//!  +-----+-----+-----+-----+---+----- ... -----+
//!  |  Z  |  0  |  0  |  0  | 5 | I             |
//!  +-----+-----+-----+-----+---+----- ... -----+
//!        |<----- length, which counts itself ->|
//!  |<------------ frame_bytes() -------------->|
//!                              |< body_bytes() |
//! ```

use std::fmt;

/// Bytes before the body: the tag and the length.
pub const HEADER_BYTES: usize = 5;

/// The smallest valid length: a length counts its own four bytes.
pub const LENGTH_MIN: u32 = 4;

/// The largest valid length: the field is a signed 32-bit integer.
pub const LENGTH_MAX: u32 = i32::MAX as u32;

/// A message's type and length, as read from the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The message's type; its meaning depends on who sent it.
    pub tag: u8,
    /// The value of the length field, in bytes: it counts itself and the body, but not the tag.
    pub length: u32,
}

impl Header {
    /// Bytes of the body, which follows the header.
    #[inline]
    #[must_use]
    pub fn body_bytes(self) -> usize {
        self.length.saturating_sub(LENGTH_MIN) as usize
    }

    /// Bytes of the whole message: tag, length and body.
    #[inline]
    #[must_use]
    pub fn frame_bytes(self) -> usize {
        self.body_bytes() + HEADER_BYTES
    }
}

/// Reads the header at the beginning of `input`.
///
/// `Ok(None)` means that `input` has fewer than [`HEADER_BYTES`].
///
/// # Errors
/// [`FrameError`] when no message can have this length. The beginning of the next message is then unknown, so the
/// connection must be closed.
#[inline]
pub fn header(input: &[u8]) -> Result<Option<Header>, FrameError> {
    let Some(&[tag, a, b, c, d]) = input.first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([a, b, c, d]);
    if (LENGTH_MIN..=LENGTH_MAX).contains(&length) {
        Ok(Some(Header { tag, length }))
    } else {
        Err(FrameError { tag, length })
    }
}

/// A length below 4 or above 2^31 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// The byte in the place of the message's type.
    pub tag: u8,
    /// The impossible length, read as an unsigned number.
    pub length: u32,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a message of type '{}' claims a length of {} bytes; lengths go from {LENGTH_MIN} to {LENGTH_MAX}",
            self.tag.escape_ascii(),
            self.length
        )
    }
}

impl std::error::Error for FrameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_needs_five_bytes() {
        for bytes in 0..HEADER_BYTES {
            assert_eq!(header(&b"Z\0\0\0\x05"[..bytes]), Ok(None));
        }
        let ready = header(b"Z\0\0\0\x05I").expect("a valid length").expect("five bytes");
        assert_eq!(ready, Header { tag: b'Z', length: 5 });
        assert_eq!((ready.body_bytes(), ready.frame_bytes()), (1, 6));
    }

    #[test]
    fn lengths_that_no_message_can_have_are_refused() {
        for length in [0, 1, 3, 1 << 31, u32::MAX] {
            let mut input = vec![b'Q'];
            input.extend(length.to_be_bytes());
            assert_eq!(header(&input), Err(FrameError { tag: b'Q', length }));
        }
        for length in [4, 5, LENGTH_MAX] {
            let mut input = vec![b'Q'];
            input.extend(length.to_be_bytes());
            assert_eq!(header(&input), Ok(Some(Header { tag: b'Q', length })));
        }
    }
}
