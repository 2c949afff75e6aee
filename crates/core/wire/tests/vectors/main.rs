//! Checks the vectors of `/vectors`, which clients in other languages use too. Each vector must decode to its meaning
//! and encode to its bytes again. Each malformed vector must be refused.

mod build;
mod captured;
mod corpus;
mod file;
mod meaning;

use std::collections::BTreeSet;

use file::{Direction, PasswordName, Vector, malformed, streams, vectors};
use trunkline_wire::frame::{self, HEADER_BYTES};
use trunkline_wire::startup::{FirstPacket, first_packet_bytes};
use trunkline_wire::{Problem, backend, frontend};

/// Decodes a complete frame or first packet, and returns its meaning in the form of the vectors.
fn decode(vector: &Vector) -> Result<serde_json::Value, String> {
    match vector.direction {
        Direction::First => {
            let bytes = first_packet_bytes(&vector.bytes).map_err(|error| format!("frame: {error}"))?;
            assert_eq!(bytes, Some(vector.bytes.len()), "{}: the length is that of the packet", vector.name);
            let packet = FirstPacket::decode(&vector.bytes).map_err(|error| format!("body: {error}"))?;
            Ok(meaning::first(&packet))
        }
        Direction::Backend | Direction::Frontend => {
            let header =
                frame::header(&vector.bytes).map_err(|error| format!("frame: {error}"))?.expect("a header");
            assert_eq!(
                header.frame_bytes(),
                vector.bytes.len(),
                "{}: the length is the frame's",
                vector.name
            );
            let body = &vector.bytes[HEADER_BYTES..];
            let meaning = if vector.direction == Direction::Backend {
                backend::Message::decode(header.tag, body).map(|message| meaning::backend(&message))
            } else {
                let kind = vector.password.unwrap_or(PasswordName::Password).kind();
                frontend::Message::decode(header.tag, body, kind).map(|message| meaning::frontend(&message))
            };
            meaning.map_err(|error| format!("body: {error}"))
        }
    }
}

/// Decodes and encodes again.
fn round_trip(vector: &Vector) -> Vec<u8> {
    let mut out = Vec::new();
    let body = vector.bytes.get(HEADER_BYTES..).expect("a body");
    match vector.direction {
        Direction::First => FirstPacket::decode(&vector.bytes).expect("decodes").encode(&mut out),
        Direction::Backend => backend::Message::decode(vector.bytes[0], body)
            .expect("decodes")
            .encode(&mut out)
            .expect("fits as it did"),
        Direction::Frontend => {
            let kind = vector.password.unwrap_or(PasswordName::Password).kind();
            frontend::Message::decode(vector.bytes[0], body, kind)
                .expect("decodes")
                .encode(&mut out)
                .expect("fits as it did");
        }
    }
    out
}

#[test]
fn every_vector_decodes_to_its_meaning() {
    for vector in vectors() {
        assert_eq!(decode(&vector), Ok(vector.message.clone()), "{}", vector.name);
    }
}

#[test]
fn every_vector_is_encoded_to_its_bytes_again() {
    for vector in vectors() {
        assert_eq!(round_trip(&vector), vector.bytes, "{}", vector.name);
    }
}

#[test]
fn every_meaning_is_encoded_to_the_bytes_of_its_vector() {
    for vector in vectors() {
        let mut out = vec![0xaa];
        build::message(&vector.message, &mut out);
        assert_eq!(out[1..], vector.bytes, "{}", vector.name);
        assert_eq!(out[0], 0xaa, "{}: what was in the buffer stays", vector.name);
    }
}

#[test]
fn every_malformed_vector_is_refused_as_it_says() {
    for vector in malformed() {
        let refused_by = vector.refused_by.as_deref().expect("a malformed vector says what refuses it");
        match decode(&vector) {
            Ok(meaning) => panic!("{} was decoded as {meaning}", vector.name),
            Err(error) => assert!(error.starts_with(refused_by), "{}: {error}", vector.name),
        }
    }
}

/// Messages whose last field extends to the end of the body, so that a shorter body may be valid too.
const OPEN_ENDED: [&str; 10] = [
    "Authentication",
    "AuthenticationGSSContinue",
    "AuthenticationSASLContinue",
    "AuthenticationSASLFinal",
    "BackendKeyData",
    "CancelRequest",
    "CopyData",
    "GSSResponse",
    "SASLResponse",
    "StartupMessage",
];

#[test]
fn every_vector_cut_short_is_incomplete_or_refused() {
    for vector in vectors() {
        let whole = vector.bytes.len();
        for bytes in 0..whole {
            let prefix = &vector.bytes[..bytes];
            let needed = match vector.direction {
                Direction::First => first_packet_bytes(prefix).expect("the length is valid"),
                _ => frame::header(prefix).expect("the length is valid").map(frame::Header::frame_bytes),
            };
            assert!(needed.is_none_or(|needed| needed == whole), "{} at {bytes}", vector.name);
        }
        if OPEN_ENDED.contains(&vector.kind()) || vector.direction == Direction::First {
            continue;
        }
        for bytes in HEADER_BYTES..whole {
            let mut cut = vector.clone();
            cut.bytes.truncate(bytes);
            let length = u32::try_from(bytes - 1).expect("vectors are short");
            cut.bytes[1..HEADER_BYTES].copy_from_slice(&length.to_be_bytes());
            assert!(decode(&cut).is_err(), "{} with {bytes} of its bytes was accepted", vector.name);
        }
    }
}

#[test]
fn a_first_packet_cut_short_is_refused() {
    for vector in vectors().iter().filter(|vector| vector.direction == Direction::First) {
        for bytes in 0..vector.bytes.len() {
            assert!(FirstPacket::decode(&vector.bytes[..bytes]).is_err(), "{} at {bytes}", vector.name);
        }
        if vector.kind() == "StartupMessage" {
            for bytes in 8..vector.bytes.len() {
                let mut cut = vector.bytes[..bytes].to_vec();
                cut[..4].copy_from_slice(&u32::try_from(bytes).expect("short").to_be_bytes());
                // An empty value before the cut looks like the end of the list.
                let ends = cut.ends_with(b"\0\0") && vector.name == "startup_empty_value";
                assert!(ends || FirstPacket::decode(&cut).is_err(), "{} at {bytes}", vector.name);
            }
        }
    }
}

#[test]
fn every_type_has_a_vector_and_a_malformed_one() {
    let tags = |direction: Direction, vectors: &[Vector]| -> BTreeSet<u8> {
        vectors.iter().filter(|vector| vector.direction == direction).map(|vector| vector.bytes[0]).collect()
    };
    let (good, bad) = (vectors(), malformed());
    for (direction, all) in
        [(Direction::Backend, &backend::message::TAGS[..]), (Direction::Frontend, &frontend::message::TAGS)]
    {
        let all: BTreeSet<u8> = all.iter().copied().collect();
        assert_eq!(tags(direction, &good), all, "{direction:?}");
        for tag in all {
            // Any body is a valid CopyData.
            assert!(
                tag == b'd' || tags(direction, &bad).contains(&tag),
                "{direction:?} {}",
                tag.escape_ascii()
            );
        }
    }
}

#[test]
fn every_message_of_the_manual_has_a_vector() {
    let found: BTreeSet<String> =
        vectors().iter().map(|vector| format!("{:?} {}", vector.direction, vector.kind())).collect();
    let expected: BTreeSet<String> = MESSAGES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, expected);
}

/// The messages of the manual's section on message formats, and `Backend Authentication` for an unknown code.
const MESSAGES: &[&str] = &[
    "Backend Authentication",
    "Backend AuthenticationCleartextPassword",
    "Backend AuthenticationGSS",
    "Backend AuthenticationGSSContinue",
    "Backend AuthenticationKerberosV5",
    "Backend AuthenticationMD5Password",
    "Backend AuthenticationOk",
    "Backend AuthenticationSASL",
    "Backend AuthenticationSASLContinue",
    "Backend AuthenticationSASLFinal",
    "Backend AuthenticationSSPI",
    "Backend BackendKeyData",
    "Backend BindComplete",
    "Backend CloseComplete",
    "Backend CommandComplete",
    "Backend CopyBothResponse",
    "Backend CopyData",
    "Backend CopyDone",
    "Backend CopyInResponse",
    "Backend CopyOutResponse",
    "Backend DataRow",
    "Backend EmptyQueryResponse",
    "Backend ErrorResponse",
    "Backend FunctionCallResponse",
    "Backend NegotiateProtocolVersion",
    "Backend NoData",
    "Backend NoticeResponse",
    "Backend NotificationResponse",
    "Backend ParameterDescription",
    "Backend ParameterStatus",
    "Backend ParseComplete",
    "Backend PortalSuspended",
    "Backend ReadyForQuery",
    "Backend RowDescription",
    "First CancelRequest",
    "First GSSENCRequest",
    "First SSLRequest",
    "First StartupMessage",
    "Frontend Bind",
    "Frontend Close",
    "Frontend CopyData",
    "Frontend CopyDone",
    "Frontend CopyFail",
    "Frontend Describe",
    "Frontend Execute",
    "Frontend Flush",
    "Frontend FunctionCall",
    "Frontend GSSResponse",
    "Frontend Parse",
    "Frontend PasswordMessage",
    "Frontend Query",
    "Frontend SASLInitialResponse",
    "Frontend SASLResponse",
    "Frontend Sync",
    "Frontend Terminate",
];

#[test]
fn frames_are_found_wherever_a_stream_is_split() {
    for stream in streams() {
        for split in &stream.splits {
            let mut found = Vec::new();
            let (mut at, mut arrived) = (0, 0);
            for end in split.iter().copied().chain([stream.bytes.len()]) {
                assert!(end > arrived, "{}: split points ascend", stream.name);
                arrived = end;
                while let Some(header) = frame::header(&stream.bytes[at..arrived]).expect("valid lengths") {
                    if at + header.frame_bytes() > arrived {
                        break;
                    }
                    found.push((at, header.frame_bytes()));
                    at += header.frame_bytes();
                }
            }
            assert_eq!(found, stream.frames, "{} split at {split:?}", stream.name);
        }
    }
}

#[test]
fn debug_output_shows_no_secret() {
    let mut seen = 0;
    for vector in vectors() {
        let Some(body) = vector.bytes.get(HEADER_BYTES..) else { continue };
        let kind = vector.password.unwrap_or(PasswordName::Password).kind();
        let shown = match vector.direction {
            Direction::First => format!("{:?}", FirstPacket::decode(&vector.bytes)),
            Direction::Backend => format!("{:?}", backend::Message::decode(vector.bytes[0], body)),
            Direction::Frontend => format!("{:?}", frontend::Message::decode(vector.bytes[0], body, kind)),
        };
        for secret in vector.secrets() {
            seen += 1;
            let listed = format!("{secret:?}");
            let text = secret.escape_ascii().to_string();
            assert!(!shown.contains(&listed) && !shown.contains(&text), "{}: {shown}", vector.name);
        }
    }
    assert!(seen >= 20, "only {seen} secrets were looked for");
}

#[test]
fn an_unknown_type_is_reported_as_unknown() {
    let error = backend::Message::decode(b'?', b"").expect_err("no such type");
    assert_eq!(error.problem, Problem::UnknownType);
}
