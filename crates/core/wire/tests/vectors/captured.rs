//! Captured conversations: the bytes that a PostgreSQL server sent, and the bytes that it accepted from a client.

use trunkline_wire::backend::{self, Message};
use trunkline_wire::frame::{self, HEADER_BYTES};
use trunkline_wire::frontend::{self, PasswordKind};
use trunkline_wire::limits::Limits;
use trunkline_wire::startup::{FirstPacket, ProtocolVersion, first_packet_bytes};

use crate::file::{Conversation, conversations};

/// The frames of a stream, which must end at the end of a frame.
fn frames(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        let header = frame::header(rest).expect("a valid length")?;
        let (frame, after) = rest.split_at_checked(header.frame_bytes()).expect("a whole frame");
        rest = after;
        Some(frame)
    })
}

fn conversation(name: &str) -> Conversation {
    conversations().into_iter().find(|found| found.name == name).expect("a conversation of this name")
}

#[test]
fn captured_server_messages_are_encoded_to_the_same_bytes() {
    for conversation in conversations() {
        let mut types = String::new();
        let mut ready = false;
        for frame in frames(&conversation.received) {
            let header = frame::header(frame).expect("valid").expect("whole");
            let limits = Limits::default();
            let within = if ready {
                limits.check_server_after_auth(header)
            } else {
                limits.check_server_before_auth(header)
            };
            assert_eq!(within, Ok(()), "{}", conversation.name);
            ready |= header.tag == backend::ready_for_query::TAG;
            types.push(char::from(header.tag));
            let message = Message::decode(header.tag, &frame[HEADER_BYTES..])
                .unwrap_or_else(|error| panic!("{}, message {}: {error}", conversation.name, types.len()));
            let mut out = Vec::new();
            message.encode(&mut out).expect("fits as it did");
            assert_eq!(out, frame, "{}, message {}", conversation.name, types.len());
        }
        assert_eq!(types, conversation.received_types, "{}", conversation.name);
    }
}

#[test]
fn captured_client_messages_are_encoded_to_the_same_bytes() {
    for conversation in conversations() {
        let bytes = first_packet_bytes(&conversation.sent).expect("valid").expect("whole");
        let (first, rest) = conversation.sent.split_at(bytes);
        let mut out = Vec::new();
        FirstPacket::decode(first).expect("a StartupMessage").encode(&mut out);
        for frame in frames(rest) {
            let message = frontend::Message::decode(frame[0], &frame[HEADER_BYTES..], PasswordKind::Password)
                .unwrap_or_else(|error| panic!("{}: {error}", conversation.name));
            message.encode(&mut out).expect("fits as it did");
        }
        assert_eq!(out, conversation.sent, "{}", conversation.name);
    }
}

#[test]
fn a_server_sends_major_and_minor_version() {
    let login = conversation("login_3_9999");
    let frame = frames(&login.received).next().expect("a message");
    let Ok(Message::NegotiateProtocolVersion(negotiate)) = Message::decode(frame[0], &frame[HEADER_BYTES..])
    else {
        panic!("the first message is not a NegotiateProtocolVersion");
    };
    assert_eq!(negotiate.newest, ProtocolVersion::V3_0);
    assert_eq!(negotiate.newest_minor(), Some(0));
    assert_eq!(negotiate.unrecognized_options().collect::<Vec<_>>(), [b"_pq_.test"]);
}

#[test]
fn keys_are_long_in_protocol_3_2_only() {
    let cases = [
        ("login_3_0_postgresql_18", 4),
        ("login_3_1_postgresql_18", 4),
        ("login_3_2_postgresql_18", 32),
        ("login_3_9999_postgresql_18", 32),
        ("login_3_9999", 4),
    ];
    for (name, bytes) in cases {
        let login = conversation(name);
        let key = frames(&login.received).find_map(|frame| {
            match Message::decode(frame[0], &frame[HEADER_BYTES..]) {
                Ok(Message::BackendKeyData(data)) => Some(data.secret_key.len()),
                _ => None,
            }
        });
        assert_eq!(key, Some(bytes), "{name}");
    }
}
