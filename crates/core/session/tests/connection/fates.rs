//! The fates of turns whose answers are incomplete when a connection ends.

use trunkline_session::frontend::connection::Fate;
use trunkline_wire::SqlState;
use trunkline_wire::backend::{ErrorResponse, Message};

use crate::answers::{READY, complete, failure, ready, stream, whole_turn};
use crate::feed::{Seen, connection, fates, feed, send};

#[test]
fn unsent_turns_were_not_run() {
    let mut connection = connection();
    whole_turn(&mut connection);
    send(&mut connection);
    whole_turn(&mut connection);
    // One byte of the second turn was written to the socket.
    connection.pipeline().handle_sent(1);
    whole_turn(&mut connection);
    connection.pipeline().query(b"q").expect("fits");
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::MayHaveRun, Fate::NotRun, Fate::NotRun]);
    assert!(connection.is_over());
}

#[test]
fn offsets_stay_right_when_the_buffer_is_reused_and_pipelines_are_appended() {
    let mut connection = connection();
    for _ in 0..3 {
        connection.pipeline().query(b"q").expect("fits");
        send(&mut connection);
        feed(&mut connection, &stream(&[complete("SELECT 0"), READY]), 1).expect("ok");
    }
    let mut other = trunkline_session::frontend::Pipeline::new();
    other.query(b"sent").expect("fits");
    connection.append(&mut other);
    send(&mut connection);
    other.query(b"unsent").expect("fits");
    connection.append(&mut other);
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::NotRun]);
}

#[test]
fn a_turn_from_two_pipelines_begins_at_its_first_message() {
    let mut connection = connection();
    connection.pipeline().execute(b"", 0).expect("fits");
    send(&mut connection);
    let mut other = trunkline_session::frontend::Pipeline::new();
    other.execute(b"", 0).expect("fits");
    other.sync();
    other.query(b"unsent").expect("fits");
    connection.append(&mut other);
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::NotRun]);
}

#[test]
fn a_turn_without_sync_has_a_fate() {
    let mut connection = connection();
    connection.pipeline().query(b"q").expect("fits");
    send(&mut connection);
    connection.pipeline().execute(b"", 0).expect("fits");
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::NotRun]);
}

#[test]
fn a_turn_whose_error_has_come_is_failed() {
    let mut connection = connection();
    whole_turn(&mut connection);
    whole_turn(&mut connection);
    send(&mut connection);
    let mut answer = Vec::new();
    failure(&mut answer);
    feed(&mut connection, &answer, 1).expect("ok");
    assert_eq!(fates(&mut connection), [Fate::Failed, Fate::MayHaveRun]);
}

#[test]
fn a_fatal_error_is_final_and_answered_turns_have_no_fate() {
    let mut connection = connection();
    whole_turn(&mut connection);
    connection.pipeline().query(b"q").expect("fits");
    connection.pipeline().query(b"r").expect("fits");
    send(&mut connection);
    let mut answer = Vec::new();
    failure(&mut answer);
    ready(&mut answer);
    ErrorResponse::fatal(SqlState::ADMIN_SHUTDOWN, "bye").encode(&mut answer);
    answer.extend(stream(&[Message::BindComplete]));
    let seen = feed(&mut connection, &answer, 1).expect("a FATAL is an event, not an error");
    assert_eq!(seen.last(), Some(&Seen::Fatal("57P01".to_owned())));
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::MayHaveRun]);
}

#[test]
fn a_fatal_error_may_come_while_no_answer_is_expected() {
    let mut connection = connection();
    let mut answer = Vec::new();
    ErrorResponse::fatal(SqlState::ADMIN_SHUTDOWN, "bye").encode(&mut answer);
    assert_eq!(feed(&mut connection, &answer, 3).expect("ok"), [Seen::Fatal("57P01".to_owned())]);
    assert!(fates(&mut connection).is_empty());
}
