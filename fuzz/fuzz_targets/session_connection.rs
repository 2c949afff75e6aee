//! A connection with open requests gets the server's bytes in pieces. Its events and its end must not depend on the pieces.
//!
//! Input: the requests, size of pieces, the server's stream.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trunkline_session::frontend::connection::{BindTemplate, ConnectionLimits, EncodeError, Fate};
use trunkline_session::frontend::rows::{Frames, Parts, RowView};
use trunkline_session::frontend::{Connection, Event, Login, LoginEvent, Misbehaviour, ServerLogin};
use trunkline_wire::frontend::Target;

const LOGIN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

fuzz_target!(|input: &[u8]| {
    let [asked, piece_bytes, stream @ ..] = input else { return };
    let whole = run(*asked, stream, usize::MAX);
    let pieces = run(*asked, stream, usize::from(*piece_bytes).max(1));
    assert_eq!(whole, pieces);
});

fn connection() -> Connection {
    let mut login = Login::new(Arc::new(ServerLogin::new("a", "b")), &mut |_: &mut [u8]| {});
    login.handle_connected(&mut Vec::new()).expect("sendable");
    login.handle_bytes(LOGIN, &mut Vec::new()).expect("a valid login");
    match login.poll() {
        Some(LoginEvent::Ready(ready)) => Connection::new(ready, ConnectionLimits::default()),
        other => panic!("{other:?}"),
    }
}

/// Sends one request for each bit that is set.
fn ask(connection: &mut Connection, asked: u8) {
    let pipeline = connection.pipeline();
    if asked & 1 != 0 {
        pipeline.query(b"q").expect("fits");
    }
    if asked & 2 != 0 {
        pipeline.parse(b"", b"q", &[]).expect("fits");
        pipeline.describe(Target::Statement, b"").expect("fits");
    }
    if asked & 4 != 0 {
        let template = BindTemplate::new(b"", &[], 0, &[]).expect("fits");
        for _ in 0..3 {
            pipeline.bind_execute(&template, |_| Ok::<_, EncodeError>(())).expect("fits");
        }
    }
    if asked & 8 != 0 {
        pipeline.bind(b"", b"", &[], &[], &[]).expect("fits");
        pipeline.describe(Target::Portal, b"").expect("fits");
        pipeline.execute(b"", 0).expect("fits");
    }
    if asked & 16 != 0 {
        pipeline.sync();
    }
    if asked & 32 != 0 {
        pipeline.execute(b"", 0).expect("fits");
        pipeline.copy_done();
        pipeline.sync();
    }
    let sent = pipeline.unsent().len();
    pipeline.handle_sent(if asked & 64 == 0 { sent } else { sent / 2 });
}

/// The result of a run: the events as text, the bytes that are left, the error, and the fates of the turns.
type Outcome = (Vec<String>, usize, Option<Misbehaviour>, Vec<Fate>);

fn run(asked: u8, stream: &[u8], piece_bytes: usize) -> Outcome {
    let mut connection = connection();
    ask(&mut connection, asked);
    let (mut arrived, mut seen, mut failed) = (Vec::new(), Vec::new(), None);
    'pieces: for piece in stream.chunks(piece_bytes) {
        arrived.extend_from_slice(piece);
        let mut rest = arrived.as_slice();
        loop {
            match connection.next_event(&mut rest) {
                Ok(Some(event)) => {
                    note(&mut seen, event);
                    if matches!(event, Event::CopyIn(_)) && asked & 128 != 0 {
                        connection.refuse_copy_in(b"no").expect("fits");
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    break 'pieces;
                }
            }
        }
        let consumed = arrived.len() - rest.len();
        arrived.drain(..consumed);
    }
    let left = if connection.is_over() { 0 } else { arrived.len() };
    (seen, left, failed, connection.handle_end())
}

/// Writes down each message of an event that stands for several: how many these are depends on the pieces.
fn note(seen: &mut Vec<String>, event: Event<'_>) {
    match event {
        Event::Rows { frames, .. } => seen.extend(Frames::rows(frames).map(row)),
        Event::CopyData { frames, .. } => seen.extend(Frames::copied(frames).map(|data| format!("{data:?}"))),
        Event::Batch { frames, .. } => seen.extend(Parts::new(frames).map(|part| format!("{part:?}"))),
        other => seen.push(format!("{other:?}")),
    }
}

fn row(body: &[u8]) -> String {
    let view = RowView::new(body);
    let columns = usize::from(view.columns()).min(40);
    let backwards: Vec<_> = (0..columns).rev().map(|index| view.value(index)).collect();
    let forwards: Vec<_> = (0..columns).map(|index| RowView::new(body).value(index)).collect();
    assert!(backwards.iter().rev().eq(forwards.iter()));
    format!("{forwards:?}")
}
