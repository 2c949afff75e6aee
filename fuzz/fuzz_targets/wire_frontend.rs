//! A message of a client is refused, or decoded and encoded to the same bytes. Renaming a Bind or Parse must give the same
//! bytes as making the message with the new name.
//!
//! Input: a byte that says which message a `p` is, a tag, a body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trunkline_wire::frame::{self, HEADER_BYTES};
use trunkline_wire::frontend::{Bind, BindNames, Message, Parse, PasswordKind, bind, message::TAGS, parse};

fuzz_target!(|input: &[u8]| {
    let &[choice, tag, ref body @ ..] = input else { return };
    let kind = match choice % 4 {
        0 => PasswordKind::Password,
        1 => PasswordKind::SaslInitial,
        2 => PasswordKind::Sasl,
        _ => PasswordKind::Gss,
    };
    // This function may be called with any prefix of a message.
    let names = BindNames::decode(body);
    let Ok(message) = Message::decode(tag, body, kind) else { return };
    assert!(TAGS.contains(&tag));
    let mut out = Vec::new();
    message.encode(&mut out).expect("what was decoded fits");
    assert_eq!(&out[HEADER_BYTES..], body);
    assert!(!format!("{message:?}").is_empty());
    match message {
        Message::Bind(message) => {
            if let Ok(names) = names {
                rename_bind(&message, &names.expect("a whole Bind has whole names"), &out);
            }
        }
        Message::Parse(message) => rename_parse(&message),
        Message::FunctionCall(call) => assert_eq!(call.arguments.count(), call.arguments.len()),
        _ => {}
    }
});

fn rename_bind(message: &Bind<'_>, names: &BindNames<'_>, frame: &[u8]) {
    assert_eq!((names.portal, names.statement), (message.portal, message.statement));
    assert_eq!(message.values.count(), message.values.len());
    let header = frame::header(frame).expect("a valid length").expect("a whole header");
    let length = names.renamed_length(header, message.portal, b"shared").expect("short enough");
    let mut renamed = Vec::new();
    bind::encode_prefix(&mut renamed, length, message.portal, b"shared");
    renamed.extend_from_slice(&frame[HEADER_BYTES + names.names_bytes..]);
    let mut made = Vec::new();
    Bind { statement: b"shared", ..*message }.encode(&mut made);
    assert_eq!(renamed, made);
}

fn rename_parse(message: &Parse<'_>) {
    let types: Vec<u32> = message.parameter_types.collect();
    let (mut renamed, mut made) = (Vec::new(), Vec::new());
    parse::write_renamed(&mut renamed, b"shared", message.body_after_name());
    Parse::write(&mut made, b"shared", message.query, &types).expect("what was decoded fits");
    assert_eq!(renamed, made);
}
