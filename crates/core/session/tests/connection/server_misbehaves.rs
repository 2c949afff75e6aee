//! Servers that break the protocol.

use trunkline_session::frontend::connection::{BindTemplate, ConnectionLimits, EncodeError};
use trunkline_session::frontend::{Connection, Misbehaviour};
use trunkline_wire::backend::message::TAGS;
use trunkline_wire::backend::{self, Message, ParameterStatus};

use crate::answers::{READY, complete, failure, row, stream, whole_turn};
use crate::feed::{connection, feed, ready, send, whole_and_bytewise};

fn nothing(_: &mut Connection) {}

#[test]
fn unexpected_answers_are_refused_by_their_type() {
    for tag in TAGS.into_iter().filter(|tag| !b"SNAE".contains(tag)) {
        // A header is enough: the connection must not wait for the gigabyte that the header announces.
        let outcome = whole_and_bytewise(nothing, &[tag, 0x3f, 0, 0, 0]);
        assert!(
            matches!(outcome, Err(Misbehaviour::Unexpected { tag: found, .. }) if found == tag),
            "{}",
            tag.escape_ascii()
        );
    }
    let mut error = Vec::new();
    failure(&mut error);
    whole_and_bytewise(nothing, &error).expect_err("an ERROR answers something");
}

#[test]
fn a_second_error_in_a_turn_is_refused() {
    let mut answer = Vec::new();
    failure(&mut answer);
    failure(&mut answer);
    whole_and_bytewise(whole_turn, &answer).expect_err("skipped messages do not fail");
}

#[test]
fn answers_out_of_order_are_refused() {
    let orders: [&[Message<'_>]; 6] = [
        &[Message::BindComplete],
        &[Message::ParseComplete, Message::ParseComplete],
        &[READY],
        &[Message::ParseComplete, READY],
        &[complete("SELECT 1")],
        &[Message::ParseComplete, Message::NoData],
    ];
    for order in orders {
        whole_and_bytewise(whole_turn, &stream(order)).expect_err("out of order");
    }
    let mut rows_first = Vec::new();
    row(&mut rows_first, &[]);
    whole_and_bytewise(|connection| connection.pipeline().query(b"q").expect("fits"), &rows_first)
        .expect_err("rows without columns");
}

#[test]
fn more_answers_than_a_batch_has_items_are_refused() {
    let batch = |connection: &mut Connection| {
        let template = BindTemplate::new(b"s", &[], 0, &[]).expect("fits");
        for _ in 0..3 {
            connection.pipeline().bind_execute(&template, |_| Ok::<_, EncodeError>(())).expect("fits");
        }
        connection.pipeline().sync();
    };
    let item = stream(&[Message::BindComplete, complete("SELECT 0")]);
    whole_and_bytewise(batch, &[item.repeat(3), stream(&[READY])].concat()).expect("three");
    whole_and_bytewise(batch, &item.repeat(4)).expect_err("four");
    whole_and_bytewise(batch, &[item.repeat(2), stream(&[READY])].concat()).expect_err("two");
    whole_and_bytewise(batch, &stream(&[Message::BindComplete, Message::BindComplete]))
        .expect_err("bound twice");
}

#[test]
fn impossible_lengths_and_malformed_bodies_are_refused() {
    let bound = |connection: &mut Connection| {
        connection.pipeline().bind(b"", b"", &[], &[], &[]).expect("fits");
        connection.pipeline().execute(b"", 0).expect("fits");
        connection.pipeline().sync();
    };
    let after_bind = |bytes: &[u8]| [&b"2\0\0\0\x04"[..], bytes].concat();
    for answer in [
        b"2\0\0\0\x03".to_vec(),
        b"2\xff\xff\xff\xff".to_vec(),
        b"2\0\0\0\x05x".to_vec(),
        after_bind(b"D\0\0\0\x04"),
        after_bind(b"D\0\0\0\x05\0"),
        after_bind(b"C\0\0\0\x05x"),
        after_bind(b"E\0\0\0\x06Sx"),
        after_bind(b"C\0\0\0\x06x\0Z\0\0\0\x05?"),
        after_bind(b"N\0\0\0\x04"),
        after_bind(b"A\0\0\0\x04"),
        after_bind(b"S\0\0\0\x06ab"),
    ] {
        whole_and_bytewise(bound, &answer).expect_err("malformed");
    }
}

#[test]
fn a_message_above_the_limit_is_refused_by_its_header() {
    let limits = ConnectionLimits { server_message_bytes: 100, ..ConnectionLimits::default() };
    for (tag, fits) in [(b'D', 100), (b'E', 100), (b'N', 100), (b'C', 100), (b'd', 0)] {
        for length in [fits, fits + 1_u32, 1 << 30] {
            let mut connection = Connection::new(ready(), limits);
            connection.pipeline().execute(b"", 0).expect("fits");
            send(&mut connection);
            let header = [&[tag][..], &length.max(4).to_be_bytes()].concat();
            let mut rest = header.as_slice();
            let outcome = connection.next_event(&mut rest);
            assert_eq!(outcome.is_ok(), length <= fits && fits > 0, "{} of {length}", tag.escape_ascii());
        }
    }
    assert_eq!(Connection::new(ready(), limits).input_bytes_max(), 30_001);
}

#[test]
fn parameters_have_bounds() {
    let mut connection = connection();
    let mut answer = Vec::new();
    for n in 0..300 {
        ParameterStatus { name: format!("p{n}").as_bytes(), value: b"v" }.encode(&mut answer);
    }
    assert_eq!(feed(&mut connection, &answer, 1_000), Err(Misbehaviour::TooManyParameters));
    assert!(connection.is_over());
}

#[test]
fn notices_without_end_need_no_memory() {
    let mut connection = connection();
    let mut notice = Vec::new();
    backend::ErrorResponse::error(trunkline_wire::SqlState::SYNTAX_ERROR, "x").encode_notice(&mut notice);
    let stream = notice.repeat(10_000);
    let mut rest = stream.as_slice();
    let mut count = 0;
    while connection.next_event(&mut rest).expect("allowed").is_some() {
        count += 1;
    }
    assert_eq!(count, 10_000);
    assert!(connection.is_idle());
}
