//! A stream of frames, split anywhere. The first byte is the length of the pieces. The frames that are found must not depend
//! on this length, and the limits must agree with the headers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_wire::limits::Limits;
use trunkline_wire::{FrameError, HEADER_BYTES, Header, header};

fuzz_target!(|input: &[u8]| {
    let Some((&piece, stream)) = input.split_first() else { return };
    let whole = frames(stream, stream.len().max(1));
    assert_eq!(frames(stream, usize::from(piece).max(1)), whole);
    let limits = Limits::default();
    for found in whole.0 {
        assert_eq!(found.frame_bytes(), found.body_bytes() + HEADER_BYTES);
        assert_eq!(found.frame_bytes(), found.length as usize + 1);
        if limits.check_before_auth(found).is_ok() {
            assert!(found.length <= limits.auth_message_bytes);
        }
        if limits.check_after_auth(found).is_ok() {
            assert!(found.length <= limits.message_bytes);
        }
        let _ = (limits.check_server_before_auth(found), limits.check_server_after_auth(found));
    }
});

/// The headers in `stream` if `piece` bytes arrive at a time, and the error that ends the stream, if there is one.
fn frames(stream: &[u8], piece: usize) -> (Vec<Header>, Option<FrameError>) {
    let (mut found, mut at, mut arrived) = (Vec::new(), 0usize, 0usize);
    loop {
        while at + HEADER_BYTES <= arrived {
            match header(&stream[at..arrived]) {
                Ok(Some(next)) => {
                    found.push(next);
                    at += next.frame_bytes();
                }
                Ok(None) => break,
                Err(error) => return (found, Some(error)),
            }
        }
        if arrived == stream.len() {
            return (found, None);
        }
        arrived = (arrived + piece).min(stream.len());
    }
}
