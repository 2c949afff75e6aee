//! Feeds a server's bytes to a connection and records its events.

use std::sync::Arc;

use trunkline_session::frontend::connection::{ConnectionLimits, Fate};
use trunkline_session::frontend::rows::{Frames, Part, Parts};
use trunkline_session::frontend::{
    Connection, Event, Login, LoginEvent, Misbehaviour, ServerLogin, ServerReady,
};
use trunkline_wire::backend::{Authentication, BackendKeyData, ErrorResponse, ParameterStatus};
use trunkline_wire::backend::{ReadyForQuery, TransactionStatus};

/// An event. Runs are recorded message by message, because the length of a run depends on how the bytes arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Parsed,
    Bound,
    Closed,
    Parameters(Vec<u32>),
    Columns(Vec<String>),
    NoData,
    Row(Vec<Option<String>>),
    Complete(String),
    Empty,
    Suspended,
    CopyIn,
    CopyOut,
    Copied(Vec<u8>),
    CopyDone,
    Error(String),
    Fatal(String),
    Ready(TransactionStatus),
    Notice,
    Notification,
    Parameter(String),
}

/// The result of a login.
pub(crate) fn ready() -> Box<ServerReady> {
    let mut login = Login::new(Arc::new(ServerLogin::new("alice", "shop")), &mut |_: &mut [u8]| {});
    let (mut out, mut input) = (Vec::new(), Vec::new());
    login.handle_connected(&mut out).expect("sendable");
    Authentication::Ok.encode(&mut input);
    ParameterStatus { name: b"TimeZone", value: b"UTC" }.encode(&mut input);
    BackendKeyData { process_id: 7, secret_key: b"1234" }.encode(&mut input);
    ReadyForQuery { status: TransactionStatus::Idle }.encode(&mut input);
    assert_eq!(login.handle_bytes(&input, &mut out), Ok(input.len()));
    match login.poll() {
        Some(LoginEvent::Ready(ready)) => ready,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn connection() -> Connection {
    Connection::new(ready(), ConnectionLimits::default())
}

/// The recorded events of a connection, and the bytes that it has not consumed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorder {
    pub(crate) seen: Vec<Seen>,
    pub(crate) arrived: Vec<u8>,
}

impl Recorder {
    /// Feeds all `bytes` at once.
    pub(crate) fn feed(&mut self, connection: &mut Connection, bytes: &[u8]) -> Result<(), Misbehaviour> {
        self.arrived.extend_from_slice(bytes);
        let mut rest = self.arrived.as_slice();
        while let Some(event) = connection.next_event(&mut rest)? {
            note(&mut self.seen, event);
        }
        let consumed = self.arrived.len() - rest.len();
        self.arrived.drain(..consumed);
        Ok(())
    }
}

/// Feeds `bytes` in pieces of `piece` bytes, and returns the recorded events.
pub(crate) fn feed(
    connection: &mut Connection,
    bytes: &[u8],
    piece: usize,
) -> Result<Vec<Seen>, Misbehaviour> {
    let mut recorder = Recorder::default();
    for piece in bytes.chunks(piece) {
        recorder.feed(connection, piece)?;
    }
    assert!(
        connection.is_over() || recorder.arrived.is_empty(),
        "{} bytes are left over",
        recorder.arrived.len()
    );
    Ok(recorder.seen)
}

/// Marks all messages as sent and returns them.
pub(crate) fn send(connection: &mut Connection) -> Vec<u8> {
    let bytes = connection.unsent().to_vec();
    connection.pipeline().handle_sent(bytes.len());
    bytes
}

/// Lets `make` write messages, then feeds the answer in one piece to one connection and byte by byte to another. Both
/// must have the same events.
pub(crate) fn whole_and_bytewise(
    make: impl Fn(&mut Connection),
    answer: &[u8],
) -> Result<Vec<Seen>, Misbehaviour> {
    let mut outcomes = [answer.len().max(1), 1].map(|piece| {
        let mut connection = connection();
        make(&mut connection);
        send(&mut connection);
        feed(&mut connection, answer, piece)
    });
    assert_eq!(outcomes[0], outcomes[1], "the events depend on how the bytes arrive");
    std::mem::replace(&mut outcomes[0], Ok(Vec::new()))
}

pub(crate) fn fates(connection: &mut Connection) -> Vec<Fate> {
    connection.handle_end()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn row(view: &trunkline_session::frontend::rows::RowView<'_>) -> Seen {
    let values = (0..view.columns().into()).map(|index| match view.value(index) {
        Ok(value) => value.map(text),
        Err(_) => Some("malformed".to_owned()),
    });
    Seen::Row(values.collect())
}

fn code(error: &ErrorResponse<'_>) -> String {
    error.code().map(|code| code.as_str().to_owned()).unwrap_or_default()
}

pub(crate) fn note(seen: &mut Vec<Seen>, event: Event<'_>) {
    seen.push(match event {
        Event::ParseComplete => Seen::Parsed,
        Event::BindComplete => Seen::Bound,
        Event::CloseComplete => Seen::Closed,
        Event::Parameters(message) => Seen::Parameters(message.types.collect()),
        Event::Columns(message) => Seen::Columns(message.columns.map(|column| text(column.name)).collect()),
        Event::NoData => Seen::NoData,
        Event::Rows { frames, count } => {
            let before = seen.len();
            seen.extend(
                Frames::rows(frames).map(|body| row(&trunkline_session::frontend::rows::RowView::new(body))),
            );
            assert_eq!(seen.len() - before, count as usize);
            return;
        }
        Event::Batch { frames, items } => {
            let mut ended = 0;
            for part in Parts::new(frames) {
                ended += u32::from(!matches!(part, Ok(Part::Row(_))));
                seen.push(match part {
                    Ok(Part::Row(view)) => row(&view),
                    Ok(Part::End(end)) => Seen::Complete(text(end.command_tag)),
                    Err(_) => Seen::Complete("malformed".to_owned()),
                });
            }
            assert_eq!(ended, items);
            return;
        }
        Event::Complete(message) => Seen::Complete(text(message.command_tag)),
        Event::EmptyQuery => Seen::Empty,
        Event::Suspended => Seen::Suspended,
        Event::CopyIn(_) => Seen::CopyIn,
        Event::CopyOut(_) => Seen::CopyOut,
        Event::CopyData { frames, count } => {
            let before = seen.len();
            seen.extend(Frames::copied(frames).map(|data| Seen::Copied(data.to_vec())));
            assert_eq!(seen.len() - before, count as usize);
            return;
        }
        Event::CopyDone => Seen::CopyDone,
        Event::Error(error) => Seen::Error(code(&error)),
        Event::Ready { status, .. } => Seen::Ready(status),
        Event::Fatal(error) => Seen::Fatal(code(&error)),
        Event::Notice(_) => Seen::Notice,
        Event::Notification(_) => Seen::Notification,
        Event::ParameterStatus(status) => Seen::Parameter(text(status.name)),
    });
}
