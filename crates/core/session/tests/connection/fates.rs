//! What becomes of the turns that wait when a connection ends.

use trunkline_session::frontend::connection::Fate;
use trunkline_wire::SqlState;
use trunkline_wire::backend::{ErrorResponse, Message};

use crate::answers::{READY, complete, failure, ready, stream, whole_turn};
use crate::feed::{Seen, connection, fates, feed, send};

#[test]
fn turns_of_which_nothing_was_sent_were_not_run() {
    let mut connection = connection();
    whole_turn(&mut connection);
    send(&mut connection);
    whole_turn(&mut connection);
    // One byte of the second is with the kernel.
    connection.pipeline().handle_sent(1);
    whole_turn(&mut connection);
    connection.pipeline().query(b"q").expect("fits");
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::MayHaveRun, Fate::NotRun, Fate::NotRun]);
    assert!(connection.is_over());
}

#[test]
fn places_hold_when_the_buffer_is_used_again_and_when_turns_come_from_elsewhere() {
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
fn a_turn_that_is_put_together_from_parts_begins_where_its_first_does() {
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
fn an_open_turn_has_a_fate_too() {
    let mut connection = connection();
    connection.pipeline().query(b"q").expect("fits");
    send(&mut connection);
    connection.pipeline().execute(b"", 0).expect("fits");
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::NotRun]);
}

#[test]
fn a_turn_whose_error_came_has_failed() {
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
fn a_farewell_is_final_and_answered_turns_are_not_counted() {
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
    let seen = feed(&mut connection, &answer, 1).expect("a farewell is no error");
    assert_eq!(seen.last(), Some(&Seen::Fatal("57P01".to_owned())));
    assert_eq!(fates(&mut connection), [Fate::MayHaveRun, Fate::MayHaveRun]);
}

#[test]
fn a_farewell_may_come_while_nothing_is_asked() {
    let mut connection = connection();
    let mut answer = Vec::new();
    ErrorResponse::fatal(SqlState::ADMIN_SHUTDOWN, "bye").encode(&mut answer);
    assert_eq!(feed(&mut connection, &answer, 3).expect("ok"), [Seen::Fatal("57P01".to_owned())]);
    assert!(fates(&mut connection).is_empty());
}
