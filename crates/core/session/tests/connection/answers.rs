//! The answers to the messages of a turn, as the manual describes them.

use trunkline_session::frontend::Connection;
use trunkline_session::frontend::connection::{BindTemplate, EncodeError};
use trunkline_wire::backend::{self, ErrorResponse, Message, TransactionStatus};
use trunkline_wire::frontend::{self, PasswordKind, Target};
use trunkline_wire::{Format, SqlState, frame};

use crate::feed::{Seen, connection, send, whole_and_bytewise};

pub(crate) const READY: Message<'static> =
    Message::ReadyForQuery(backend::ReadyForQuery { status: TransactionStatus::Idle });

pub(crate) fn stream(messages: &[Message<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    messages.iter().for_each(|message| message.encode(&mut out).expect("fits"));
    out
}

pub(crate) fn complete(tag: &str) -> Message<'_> {
    Message::CommandComplete(backend::CommandComplete { command_tag: tag.as_bytes() })
}

pub(crate) fn row(out: &mut Vec<u8>, values: &[Option<&str>]) {
    let values: Vec<_> = values.iter().map(|value| value.map(str::as_bytes)).collect();
    backend::DataRow::write(out, &values).expect("fits");
}

pub(crate) fn failure(out: &mut Vec<u8>) {
    ErrorResponse::error(SqlState::SYNTAX_ERROR, "no").encode(out);
}

pub(crate) fn ready(out: &mut Vec<u8>) {
    READY.encode(out).expect("fits");
}

/// A complete extended query that describes statement and portal.
pub(crate) fn whole_turn(connection: &mut Connection) {
    let pipeline = connection.pipeline();
    pipeline.parse(b"s", b"select $1", &[23]).expect("fits");
    pipeline.describe(Target::Statement, b"s").expect("fits");
    pipeline.bind(b"", b"s", &[], &[Some(b"1")], &[Format::BINARY]).expect("fits");
    pipeline.describe(Target::Portal, b"").expect("fits");
    pipeline.execute(b"", 0).expect("fits");
    pipeline.close(Target::Statement, b"s").expect("fits");
    pipeline.sync();
}

fn columns(out: &mut Vec<u8>, names: &[&str]) {
    let columns: Vec<_> = names
        .iter()
        .map(|name| backend::Column {
            name: name.as_bytes(),
            table: 0,
            attribute: 0,
            type_oid: 23,
            type_size: 4,
            type_modifier: -1,
            format: Format::TEXT,
        })
        .collect();
    backend::RowDescription::write(out, &columns).expect("fits");
}

#[test]
fn an_extended_query_is_answered_message_by_message() {
    let mut answer = stream(&[Message::ParseComplete]);
    backend::ParameterDescription::write(&mut answer, &[23]).expect("fits");
    columns(&mut answer, &["a"]);
    answer.extend(stream(&[Message::BindComplete]));
    columns(&mut answer, &["a"]);
    row(&mut answer, &[Some("1"), None]);
    row(&mut answer, &[Some("2"), Some("")]);
    answer.extend(stream(&[complete("SELECT 2"), Message::CloseComplete, READY]));
    let seen = whole_and_bytewise(whole_turn, &answer).expect("by the book");
    let a = || vec!["a".to_owned()];
    let expected = [
        Seen::Parsed,
        Seen::Parameters(vec![23]),
        Seen::Columns(a()),
        Seen::Bound,
        Seen::Columns(a()),
        Seen::Row(vec![Some("1".to_owned()), None]),
        Seen::Row(vec![Some("2".to_owned()), Some(String::new())]),
        Seen::Complete("SELECT 2".to_owned()),
        Seen::Closed,
        Seen::Ready(TransactionStatus::Idle),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn an_error_drops_expected_answers_up_to_the_sync_only() {
    for answered in 0..7 {
        type Write<'a> = &'a dyn Fn(&mut Vec<u8>);
        let parts: [Write<'_>; 7] = [
            &|out| out.extend(stream(&[Message::ParseComplete])),
            &|out| {
                backend::ParameterDescription::write(out, &[23]).expect("fits");
                columns(out, &["a"]);
            },
            &|out| out.extend(stream(&[Message::BindComplete])),
            &|out| out.extend(stream(&[Message::NoData])),
            &|out| out.extend(stream(&[complete("SELECT 0")])),
            &|out| out.extend(stream(&[Message::CloseComplete])),
            &|_| {},
        ];
        let mut answer = Vec::new();
        parts[..answered].iter().for_each(|part| part(&mut answer));
        failure(&mut answer);
        ready(&mut answer);
        // The next turn is answered normally.
        answer.extend(stream(&[complete("SELECT 0"), READY]));
        let turns = |connection: &mut Connection| {
            whole_turn(connection);
            connection.pipeline().query(b"second").expect("fits");
        };
        let seen = whole_and_bytewise(turns, &answer).expect("by the book");
        let end = [
            Seen::Error("42601".to_owned()),
            Seen::Ready(TransactionStatus::Idle),
            Seen::Complete("SELECT 0".to_owned()),
            Seen::Ready(TransactionStatus::Idle),
        ];
        assert_eq!(seen[seen.len() - 4..], end, "after {answered} answers");
    }
}

#[test]
fn a_simple_query_has_any_number_of_results() {
    let mut answer = Vec::new();
    columns(&mut answer, &["a", "b"]);
    row(&mut answer, &[Some("x"), Some("y")]);
    answer.extend(stream(&[complete("SELECT 1"), complete("UPDATE 3"), Message::EmptyQueryResponse]));
    columns(&mut answer, &["c"]);
    answer.extend(stream(&[complete("SELECT 0")]));
    failure(&mut answer);
    ready(&mut answer);
    let seen =
        whole_and_bytewise(|connection| connection.pipeline().query(b"a; b; c").expect("fits"), &answer)
            .expect("ok");
    assert_eq!(seen.len(), 9);
    assert_eq!(seen[7..], [Seen::Error("42601".to_owned()), Seen::Ready(TransactionStatus::Idle)]);
}

#[test]
fn asynchronous_messages_may_come_anywhere() {
    let mut asynchronous = Vec::new();
    ErrorResponse::error(SqlState::SYNTAX_ERROR, "careful").encode_notice(&mut asynchronous);
    let write_asynchronous = |out: &mut Vec<u8>| {
        out.extend_from_slice(&asynchronous);
        backend::ParameterStatus { name: b"TimeZone", value: b"CET" }.encode(out);
        backend::NotificationResponse { process_id: 1, channel: b"c", payload: b"p" }.encode(out);
    };
    let turn = |connection: &mut Connection| {
        connection.pipeline().bind(b"", b"", &[], &[], &[]).expect("fits");
        connection.pipeline().execute(b"", 0).expect("fits");
        connection.pipeline().sync();
    };
    let mut answer = Vec::new();
    write_asynchronous(&mut answer);
    for message in [Message::BindComplete, complete("SELECT 0"), READY] {
        message.encode(&mut answer).expect("fits");
        write_asynchronous(&mut answer);
    }
    let seen = whole_and_bytewise(turn, &answer).expect("they are allowed");
    assert_eq!(seen.len(), 3 + 4 * 3);
    assert_eq!(seen.iter().filter(|seen| **seen == Seen::Parameter("TimeZone".to_owned())).count(), 4);
}

#[test]
fn a_batch_is_one_entry_and_its_items_are_counted() {
    let template = BindTemplate::new(b"s", &[Format::BINARY], 1, &[Format::BINARY]).expect("fits");
    let batch = |connection: &mut Connection| {
        let pipeline = connection.pipeline();
        for item in 0..1_000_u32 {
            pipeline.bind_execute(&template, |values| values.value(&item.to_be_bytes())).expect("fits");
        }
        assert_eq!(pipeline.expected(), 1);
        pipeline.sync();
    };
    let mut answer = Vec::new();
    for item in 0..1_000 {
        Message::BindComplete.encode(&mut answer).expect("fits");
        for _ in 0..item % 3 {
            row(&mut answer, &[Some("v")]);
        }
        complete("SELECT").encode(&mut answer).expect("fits");
    }
    ready(&mut answer);
    let seen = whole_and_bytewise(batch, &answer).expect("by the book");
    assert_eq!(seen.iter().filter(|seen| matches!(seen, Seen::Complete(_))).count(), 1_000);
    assert_eq!(seen.iter().filter(|seen| matches!(seen, Seen::Row(_))).count(), 999);
    assert_eq!(seen.last(), Some(&Seen::Ready(TransactionStatus::Idle)));
}

#[test]
fn a_template_writes_what_a_bind_and_an_execute_do() {
    let formats = [Format::BINARY, Format::TEXT];
    let template = BindTemplate::new(b"stmt", &formats, 2, &[Format::BINARY]).expect("fits");
    let mut by_template = connection();
    by_template
        .pipeline()
        .bind_execute(&template, |values| {
            values.value(b"ab")?;
            values.null();
            Ok::<_, EncodeError>(())
        })
        .expect("fits");
    let mut plain = connection();
    let values: &[Option<&[u8]>] = &[Some(b"ab"), None];
    plain.pipeline().bind(b"", b"stmt", &formats, values, &[Format::BINARY]).expect("fits");
    plain.pipeline().execute(b"", 0).expect("fits");
    assert_eq!(send(&mut by_template), send(&mut plain));
}

#[test]
fn a_wrong_number_of_values_writes_nothing() {
    let template = BindTemplate::new(b"", &[], 2, &[]).expect("fits");
    for count in [0, 1, 3] {
        let mut connection = connection();
        let outcome = connection.pipeline().bind_execute(&template, |values| {
            (0..count).for_each(|_| values.null());
            Ok::<_, EncodeError>(())
        });
        let error = outcome.expect_err("two are needed");
        assert!(error.to_string().contains(&format!("2 parameters, and {count} were")), "{error}");
        assert!(connection.unsent().is_empty() && connection.is_idle());
    }
}

#[test]
fn zero_bytes_and_queries_in_open_turns_are_refused() {
    let mut connection = connection();
    let pipeline = connection.pipeline();
    assert_eq!(pipeline.query(b"a\0b"), Err(EncodeError::ZeroByte("query text")));
    assert!(pipeline.parse(b"\0", b"", &[]).is_err() && pipeline.parse(b"", b"\0", &[]).is_err());
    assert!(pipeline.close(Target::Portal, b"\0").is_err() && pipeline.execute(b"\0", 0).is_err());
    assert!(pipeline.copy_fail(b"\0").is_err() && pipeline.describe(Target::Portal, b"\0").is_err());
    assert!(pipeline.unsent().is_empty() && pipeline.expected() == 0);
    pipeline.parse(b"", b"a", &[]).expect("fits");
    assert_eq!(pipeline.query(b"a"), Err(EncodeError::TurnOpen));
}

#[test]
fn an_appended_pipeline_behaves_like_direct_messages() {
    let mut here = connection();
    whole_turn(&mut here);
    here.pipeline().query(b"second").expect("fits");
    let mut elsewhere = connection();
    whole_turn(&mut elsewhere);
    let mut other = trunkline_session::frontend::Pipeline::new();
    other.query(b"second").expect("fits");
    elsewhere.append(&mut other);
    assert!(other.unsent().is_empty() && other.expected() == 0 && other.turns() == 0);
    assert_eq!(elsewhere.pipeline().turns(), 2);
    assert_eq!(send(&mut here), send(&mut elsewhere));
}

#[test]
fn everything_that_is_written_can_be_read() {
    let mut connection = connection();
    whole_turn(&mut connection);
    let pipeline = connection.pipeline();
    pipeline.copy_data(b"1\t2\n").expect("fits");
    pipeline.copy_done();
    pipeline.copy_fail(b"why").expect("fits");
    pipeline.flush();
    pipeline.terminate();
    let bytes = send(&mut connection);
    let mut rest = bytes.as_slice();
    let mut tags = Vec::new();
    while let Some(header) = frame::header(rest).expect("valid") {
        let (frame, after) = rest.split_at(header.frame_bytes());
        frontend::Message::decode(frame[0], &frame[5..], PasswordKind::Password).expect("decodes");
        tags.push(frame[0]);
        rest = after;
    }
    assert_eq!(tags, b"PDBDECSdcfHX");
}
