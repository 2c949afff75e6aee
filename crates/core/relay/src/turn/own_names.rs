//! Puts the client's own name for a statement into error messages.

use trunkline_wire::frame::HEADER_BYTES;

/// The ErrorResponse `frame` with the client's `own` name in all places that have the name `sent`, which we sent to the
/// server. `None` if it does not have that name.
pub(super) fn with_own_name(frame: &[u8], sent: &[u8], own: &[u8]) -> Option<Vec<u8>> {
    let body = frame.get(HEADER_BYTES..)?;
    let mut places = memchr::memmem::find_iter(body, sent).peekable();
    places.peek()?;
    let mut out = frame[..HEADER_BYTES].to_vec();
    let mut from = 0;
    for at in places {
        out.extend_from_slice(&body[from..at]);
        out.extend_from_slice(own);
        from = at + sent.len();
    }
    out.extend_from_slice(&body[from..]);
    let length = u32::try_from(out.len() - 1).ok()?;
    out[1..HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_replaced() {
        let frame = |body: &[u8]| {
            let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
            [b"E", &length[..], body].concat()
        };
        let error = frame(b"Mstatement \"_tl_1\"\0D_tl_1 and _tl_1\0\0");
        assert_eq!(
            with_own_name(&error, b"_tl_1", b"mine").as_deref(),
            Some(&*frame(b"Mstatement \"mine\"\0Dmine and mine\0\0"))
        );
        assert_eq!(with_own_name(&error, b"_tl_2", b"mine"), None);
    }
}
