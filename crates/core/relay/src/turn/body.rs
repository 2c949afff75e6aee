//! Reads strings from the body of a frame.

use trunkline_wire::frame::HEADER_BYTES;

/// The received part of a frame's body.
pub(super) fn body(received: &[u8]) -> &[u8] {
    received.get(HEADER_BYTES..).unwrap_or_default()
}

/// Splits off the string at the beginning that ends with a zero byte. Returns the string and the bytes after the zero.
pub(super) fn cstr(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The SQL text in a Parse message's body.
pub(super) fn parsed_text(body: &[u8]) -> Option<&[u8]> {
    body.splitn(2, |byte| *byte == 0).nth(1).map(query_text)
}

/// The SQL text in a Query's body, without the zero byte after it.
pub(super) fn query_text(body: &[u8]) -> &[u8] {
    memchr::memchr(0, body).map_or(body, |end| &body[..end])
}
