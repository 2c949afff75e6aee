//! A message of a server (a tag, then a body) is refused, or decoded and encoded to the same bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_wire::backend::{Message, message::TAGS};
use trunkline_wire::frame::{self, HEADER_BYTES};

fuzz_target!(|input: &[u8]| {
    let Some((&tag, body)) = input.split_first() else { return };
    let Ok(message) = Message::decode(tag, body) else { return };
    assert!(TAGS.contains(&tag));
    let mut out = Vec::new();
    message.encode(&mut out).expect("what was decoded fits");
    assert_eq!(&out[HEADER_BYTES..], body);
    let header = frame::header(&out).expect("a valid length").expect("a whole header");
    assert_eq!((header.tag, header.frame_bytes()), (tag, out.len()));

    let shown = format!("{message:?}");
    assert!(!shown.is_empty());
    visit(&message);
});

/// Reads all fields that are decoded only when they are read.
fn visit(message: &Message<'_>) {
    match message {
        Message::DataRow(row) => assert_eq!(row.values.count(), row.values.len()),
        Message::RowDescription(rows) => assert_eq!(rows.columns.count(), rows.columns.len()),
        Message::ErrorResponse(error) => {
            for (kind, text) in error.iter() {
                assert!(kind != 0 && !text.contains(&0));
                assert!(error.field(kind).is_some());
            }
            let _ = (error.code(), error.severity(), error.message());
        }
        Message::CommandComplete(complete) => {
            let _ = complete.rows();
        }
        Message::NegotiateProtocolVersion(negotiate) => {
            let _ = (negotiate.newest_minor(), negotiate.unrecognized_options().count());
        }
        _ => {}
    }
}
