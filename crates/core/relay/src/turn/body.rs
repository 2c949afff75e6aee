//! What stands in the body of a frame that is all there.

use trunkline_wire::frame::HEADER_BYTES;

/// The body of a frame that is all there.
pub(super) fn body(there: &[u8]) -> &[u8] {
    there.get(HEADER_BYTES..).unwrap_or_default()
}

/// Splits a string that ends in a zero byte off the beginning.
pub(super) fn cstr(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The text of a Parse message's body.
pub(super) fn parsed_text(body: &[u8]) -> Option<&[u8]> {
    body.splitn(2, |byte| *byte == 0).nth(1).map(query_text)
}

/// The text that a Query's body has, without the zero byte after it.
pub(super) fn query_text(body: &[u8]) -> &[u8] {
    memchr::memchr(0, body).map_or(body, |end| &body[..end])
}
