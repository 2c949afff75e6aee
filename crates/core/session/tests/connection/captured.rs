//! Replays captured conversations with PostgreSQL (`/vectors/captured.json`).

use std::path::Path;

use serde_json::Value;
use trunkline_session::frontend::{Connection, Misbehaviour};
use trunkline_wire::backend::ready_for_query;
use trunkline_wire::frontend::{Message, PasswordKind};
use trunkline_wire::startup::first_packet_bytes;
use trunkline_wire::{Format, frame};

use crate::feed::{Seen, connection, feed, send};

/// Conversations that a [`Connection`] cannot replay: it sends no FunctionCall, and does no replication.
const LEFT_OUT: [&str; 2] = ["function_call", "replication"];

fn conversations() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/captured.json");
    let text = std::fs::read_to_string(path).expect("the vectors are there");
    serde_json::from_str(&text).expect("JSON")
}

fn bytes(conversation: &Value, key: &str) -> Vec<u8> {
    let digits = conversation[key].as_str().expect("digits");
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal")).collect()
}

fn frames(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        let header = frame::header(rest).expect("a valid length")?;
        let (frame, after) = rest.split_at_checked(header.frame_bytes()).expect("a whole frame");
        rest = after;
        Some(frame)
    })
}

/// Sends the same message as in the capture.
fn ask(connection: &mut Connection, message: &Message<'_>) {
    let pipeline = connection.pipeline();
    let done = match message {
        Message::Query(query) => pipeline.query(query.text),
        Message::Parse(parse) => {
            let types: Vec<u32> = parse.parameter_types.collect();
            pipeline.parse(parse.name, parse.query, &types)
        }
        Message::Bind(bind) => {
            let formats = |formats: trunkline_wire::list::Formats<'_>| formats.collect::<Vec<Format>>();
            let values: Vec<_> = bind.values.collect();
            let (given, wanted) = (formats(bind.parameter_formats), formats(bind.result_formats));
            pipeline.bind(bind.portal, bind.statement, &given, &values, &wanted)
        }
        Message::Describe(describe) => pipeline.describe(describe.target, describe.name),
        Message::Execute(execute) => pipeline.execute(execute.portal, execute.max_rows),
        Message::Close(close) => pipeline.close(close.target, close.name),
        Message::CopyData(data) => pipeline.copy_data(data.data),
        Message::CopyFail(fail) => pipeline.copy_fail(fail.message),
        other => {
            match other {
                Message::Sync => pipeline.sync(),
                Message::Flush => pipeline.flush(),
                Message::CopyDone => pipeline.copy_done(),
                Message::Terminate => pipeline.terminate(),
                other => panic!("{other:?} after a login"),
            }
            Ok(())
        }
    };
    done.expect("it fitted in the capture");
}

/// Replays a conversation. The answers come in pieces of `piece` bytes.
fn replay(conversation: &Value, piece: usize) -> (Connection, Result<Vec<Seen>, Misbehaviour>) {
    let (sent, received) = (bytes(conversation, "sent_hex"), bytes(conversation, "received_hex"));
    let first = first_packet_bytes(&sent).expect("valid").expect("whole");
    let mut connection = connection();
    for frame in frames(&sent[first..]) {
        let message = Message::decode(frame[0], &frame[5..], PasswordKind::Password).expect("decodes");
        ask(&mut connection, &message);
    }
    assert_eq!(send(&mut connection), sent[first..], "the same bytes are sent as in the capture");
    let mut login = 0;
    for frame in frames(&received) {
        login += frame.len();
        if frame[0] == ready_for_query::TAG {
            break;
        }
    }
    let seen = feed(&mut connection, &received[login..], piece);
    (connection, seen)
}

#[test]
fn captured_answers_are_read_in_any_pieces() {
    let mut replayed = 0;
    for conversation in conversations() {
        let name = conversation["name"].as_str().expect("a name");
        let types = conversation["received_types"].as_str().expect("types");
        if LEFT_OUT.contains(&name) || !types.contains('Z') {
            continue;
        }
        let (mut connection, seen) = replay(&conversation, usize::MAX);
        let seen = seen.unwrap_or_else(|error| panic!("{name}: {error}"));
        // The recorder splits a run of rows into rows, so the number of records is the number of messages.
        let after_login = types.split_once('Z').expect("a login").1;
        assert_eq!(seen.len(), after_login.len(), "{name}: {seen:?}");
        assert!(connection.is_idle(), "{name}");
        assert_eq!(connection.turns_over(), connection.pipeline().turns(), "{name}");
        for piece in [1, 2, 7] {
            assert_eq!(replay(&conversation, piece).1.as_ref(), Ok(&seen), "{name} in pieces of {piece}");
        }
        replayed += 1;
    }
    assert!(replayed > 8, "{replayed}");
}
