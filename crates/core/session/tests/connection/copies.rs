//! COPY: data in both directions, and Syncs that a COPY drops.

use trunkline_session::frontend::Connection;
use trunkline_wire::Format;
use trunkline_wire::backend::{self, Message, TransactionStatus};

use crate::answers::{READY, complete, failure, ready, stream};
use crate::feed::{Seen, connection, feed, send, whole_and_bytewise};

fn copy_in(out: &mut Vec<u8>) {
    backend::CopyInResponse::write(out, Format::TEXT, &[Format::TEXT]).expect("fits");
}

fn extended(connection: &mut Connection) {
    connection.pipeline().bind(b"", b"copy", &[], &[], &[]).expect("fits");
    connection.pipeline().execute(b"", 0).expect("fits");
}

const IDLE: Seen = Seen::Ready(TransactionStatus::Idle);

#[test]
fn copied_data_is_received_in_either_protocol() {
    for simple in [true, false] {
        let mut answer = if simple { Vec::new() } else { stream(&[Message::BindComplete]) };
        backend::CopyOutResponse::write(&mut answer, Format::TEXT, &[Format::TEXT]).expect("fits");
        for data in [&b"1\n"[..], b"", b"22\n"] {
            backend::CopyData { data }.encode(&mut answer);
        }
        answer.extend(stream(&[Message::CopyDone, complete("COPY 2"), READY]));
        let turn = |connection: &mut Connection| {
            if simple {
                connection.pipeline().query(b"copy").expect("fits");
            } else {
                extended(connection);
                connection.pipeline().sync();
            }
        };
        let seen = whole_and_bytewise(turn, &answer).expect("by the book");
        let copied = |data: &[u8]| Seen::Copied(data.to_vec());
        let expected = [
            Seen::CopyOut,
            copied(b"1\n"),
            copied(b""),
            copied(b"22\n"),
            Seen::CopyDone,
            Seen::Complete("COPY 2".to_owned()),
            IDLE,
        ];
        assert_eq!(seen[usize::from(!simple)..], expected);
    }
}

#[test]
fn copied_data_is_sent_and_later_turns_are_answered() {
    for simple in [true, false] {
        let mut connection = connection();
        if simple {
            connection.pipeline().query(b"copy").expect("fits");
        } else {
            extended(&mut connection);
            connection.pipeline().flush();
        }
        send(&mut connection);
        let mut answer = if simple { Vec::new() } else { stream(&[Message::BindComplete]) };
        copy_in(&mut answer);
        let seen = feed(&mut connection, &answer, 1).expect("by the book");
        assert_eq!(seen.last(), Some(&Seen::CopyIn));
        connection.pipeline().copy_data(b"1\n").expect("fits");
        connection.pipeline().copy_done();
        if !simple {
            connection.pipeline().sync();
        }
        connection.pipeline().query(b"next").expect("fits");
        let answer = stream(&[complete("COPY 1"), READY, complete("SELECT 0"), READY]);
        let seen = feed(&mut connection, &answer, 1).expect("by the book");
        let tag = |tag: &str| Seen::Complete(tag.to_owned());
        assert_eq!(seen, [tag("COPY 1"), IDLE, tag("SELECT 0"), IDLE]);
        send(&mut connection);
        assert!(connection.is_idle());
    }
}

#[test]
fn an_error_within_the_data_ends_the_copy() {
    for simple in [true, false] {
        let turn = |connection: &mut Connection| {
            if simple {
                connection.pipeline().query(b"copy").expect("fits");
            } else {
                extended(connection);
            }
            connection.pipeline().copy_data(b"bad").expect("fits");
            connection.pipeline().copy_done();
            if !simple {
                connection.pipeline().sync();
            }
            connection.pipeline().query(b"next").expect("fits");
        };
        let mut answer = if simple { Vec::new() } else { stream(&[Message::BindComplete]) };
        copy_in(&mut answer);
        failure(&mut answer);
        ready(&mut answer);
        failure(&mut answer);
        ready(&mut answer);
        let seen = whole_and_bytewise(turn, &answer).expect("by the book");
        let error = || Seen::Error("42601".to_owned());
        assert_eq!(seen[usize::from(!simple)..], [Seen::CopyIn, error(), IDLE, error(), IDLE]);
    }
}

#[test]
fn a_copy_can_be_refused_for_lack_of_data() {
    // The Sync was sent directly behind the Execute, and the server's COPY has dropped it.
    let mut connection = connection();
    extended(&mut connection);
    connection.pipeline().sync();
    send(&mut connection);
    let mut answer = stream(&[Message::BindComplete]);
    copy_in(&mut answer);
    let seen = feed(&mut connection, &answer, 1).expect("by the book");
    assert_eq!(seen, [Seen::Bound, Seen::CopyIn]);
    connection.refuse_copy_in(b"no data").expect("fits");
    assert_eq!(send(&mut connection), b"f\0\0\0\x0cno data\0S\0\0\0\x04");
    let mut answer = Vec::new();
    failure(&mut answer);
    ready(&mut answer);
    assert_eq!(feed(&mut connection, &answer, 1).expect("ok"), [Seen::Error("42601".to_owned()), IDLE]);
    assert!(connection.is_idle());
}

#[test]
fn an_unexpected_copy_reads_the_turn_behind_it() {
    // The server reads the second Bind in its COPY, fails, and skips to the second Sync.
    let mut connection = connection();
    for _ in 0..2 {
        extended(&mut connection);
        connection.pipeline().sync();
    }
    send(&mut connection);
    let mut answer = stream(&[Message::BindComplete]);
    copy_in(&mut answer);
    assert_eq!(feed(&mut connection, &answer, 1).expect("ok")[1], Seen::CopyIn);
    connection.refuse_copy_in(b"no data").expect("fits");
    assert!(connection.unsent().is_empty(), "the COPY fails without a CopyFail");
    let mut answer = Vec::new();
    failure(&mut answer);
    ready(&mut answer);
    feed(&mut connection, &answer, 1).expect("ok");
    assert!(connection.is_idle());
}

#[test]
fn a_refused_simple_copy_needs_no_sync() {
    let mut connection = connection();
    connection.pipeline().query(b"copy").expect("fits");
    send(&mut connection);
    let mut answer = Vec::new();
    copy_in(&mut answer);
    feed(&mut connection, &answer, 1).expect("ok");
    connection.refuse_copy_in(b"no").expect("fits");
    assert_eq!(send(&mut connection), b"f\0\0\0\x07no\0");
    let mut answer = Vec::new();
    failure(&mut answer);
    ready(&mut answer);
    feed(&mut connection, &answer, 1).expect("ok");
    assert!(connection.is_idle());
}

#[test]
fn replication_is_refused() {
    let mut answer = Vec::new();
    backend::CopyBothResponse::write(&mut answer, Format::TEXT, &[]).expect("fits");
    whole_and_bytewise(|connection| connection.pipeline().query(b"x").expect("fits"), &answer)
        .expect_err("not due");
}
