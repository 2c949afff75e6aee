//! For any messages of a client and any division of the answers into pieces, the client's events are those that the
//! model of a server says, and no bytes are left over. Any bytes of a server cause events or an error, never a panic,
//! and the same ones for any division into pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use trunkline_session::frontend::Connection;
use trunkline_session::frontend::connection::{BindTemplate, EncodeError};
use trunkline_wire::backend::message::TAGS;
use trunkline_wire::frontend::Target;

use crate::feed::{Recorder, Seen, connection, feed, send};
use crate::model::Model;

/// A step of a client.
#[derive(Debug, Clone)]
enum Step {
    Query(Vec<&'static str>),
    Parse(u8, &'static str),
    Bind(u8),
    Describe(Target, u8),
    Execute,
    Batch(u8, u8),
    Close(u8),
    Sync,
    /// The client waits for all answers.
    Wait,
}

const COMMANDS: [&str; 8] = ["rows 0", "rows 3", "fail", "in", "out 2", "done", "", "rows 70"];

fn command() -> impl Strategy<Value = &'static str> {
    (0..COMMANDS.len()).prop_map(|at| COMMANDS[at])
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        vec(command(), 1..4).prop_map(Step::Query),
        (0..3_u8, prop_oneof![command(), Just("bad")]).prop_map(|(name, text)| Step::Parse(name, text)),
        (0..3_u8).prop_map(Step::Bind),
        (prop_oneof![Just(Target::Statement), Just(Target::Portal)], 0..3_u8)
            .prop_map(|(target, name)| Step::Describe(target, name)),
        Just(Step::Execute),
        (0..3_u8, 1..5_u8).prop_map(|(name, items)| Step::Batch(name, items)),
        (0..3_u8).prop_map(Step::Close),
        Just(Step::Sync),
        Just(Step::Wait),
    ]
}

fn ask(connection: &mut Connection, step: &Step) {
    let name = |n: u8| [b'a' + n];
    let pipeline = connection.pipeline();
    let done = match step {
        Step::Query(commands) => {
            if pipeline.turn_is_open() {
                pipeline.sync();
            }
            pipeline.query(commands.join(";").as_bytes())
        }
        Step::Parse(n, text) => pipeline.parse(&name(*n), text.as_bytes(), &[]),
        Step::Bind(n) => pipeline.bind(b"", &name(*n), &[], &[], &[]),
        Step::Describe(Target::Portal, _) => pipeline.describe(Target::Portal, b""),
        Step::Describe(target, n) => pipeline.describe(*target, &name(*n)),
        Step::Execute => pipeline.execute(b"", 0),
        Step::Batch(n, items) => {
            let template = BindTemplate::new(&name(*n), &[], 0, &[]).expect("fits");
            (0..*items).try_for_each(|_| pipeline.bind_execute(&template, |_| Ok::<_, EncodeError>(())))
        }
        Step::Close(n) => pipeline.close(Target::Statement, &name(*n)),
        Step::Sync | Step::Wait => {
            pipeline.sync();
            Ok(())
        }
    };
    done.expect("it fits");
}

/// The events without BindComplete, which a batch does not show.
fn shown(seen: &[Seen]) -> Vec<Seen> {
    let bound = seen.iter().filter(|seen| **seen != Seen::Bound);
    bound.cloned().map(plain).collect()
}

/// In a batch, an empty query is shown as the end of an item.
fn plain(seen: Seen) -> Seen {
    if seen == Seen::Empty { Seen::Complete(String::new()) } else { seen }
}

/// Sends all messages, lets the model answer, and feeds the answer in pieces. Refuses copies.
fn exchange(
    connection: &mut Connection,
    model: &mut Model,
    recorder: &mut Recorder,
    pieces: &mut impl Iterator<Item = usize>,
) {
    loop {
        let bytes = send(connection);
        if bytes.is_empty() {
            break;
        }
        model.read(&bytes);
        let answer = std::mem::take(&mut model.out);
        let mut rest = answer.as_slice();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(pieces.next().expect("endless").min(rest.len()));
            recorder.feed(connection, piece).expect("the model follows the protocol");
            rest = later;
        }
        connection.refuse_copy_in(b"no data").expect("fits");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_are_those_of_the_model(steps in vec(step(), 1..20), pieces in vec(1..50_usize, 1..8)) {
        let (mut connection, mut model, mut recorder) = (connection(), Model::new(), Recorder::default());
        let mut pieces = pieces.into_iter().cycle();
        for step in steps.iter().chain([&Step::Wait]) {
            ask(&mut connection, step);
            if matches!(step, Step::Wait) {
                exchange(&mut connection, &mut model, &mut recorder, &mut pieces);
                prop_assert!(connection.is_idle(), "{connection:?}");
                prop_assert!(recorder.arrived.is_empty());
            }
        }
        prop_assert_eq!(shown(&recorder.seen), shown(&model.expected_events));
        prop_assert_eq!(connection.turns_over(), connection.pipeline().turns());
    }

    #[test]
    fn any_bytes_give_the_same_outcome_in_any_pieces(
        steps in vec(step(), 0..8),
        frames in vec((0..TAGS.len(), vec(any::<u8>(), 0..20), -1_i32..2), 0..20),
        piece in 1..40_usize,
    ) {
        let mut stream = Vec::new();
        for (tag, body, off) in &frames {
            stream.push(TAGS[*tag]);
            let length = i32::try_from(body.len()).expect("short") + 4 + if *off == 0 { 0 } else { *off % 2 };
            stream.extend(length.to_be_bytes());
            stream.extend(body);
        }
        let run = |piece: usize| {
            let mut connection = connection();
            steps.iter().for_each(|step| ask(&mut connection, step));
            send(&mut connection);
            let mut recorder = Recorder::default();
            let failed = stream.chunks(piece).find_map(|bytes| recorder.feed(&mut connection, bytes).err());
            (recorder.seen, failed, connection.handle_end())
        };
        prop_assert_eq!(run(stream.len().max(1)), run(piece));
    }
}

#[test]
fn copied_data_reaches_the_server() {
    let (mut connection, mut model) = (connection(), Model::new());
    connection.pipeline().query(b"in;rows 1;in").expect("fits");
    for n in 0..2_u8 {
        model.read(&send(&mut connection));
        let answer = std::mem::take(&mut model.out);
        feed(&mut connection, &answer, 7).expect("by the book");
        connection.pipeline().copy_data(&[n; 3]).expect("fits");
        connection.pipeline().copy_done();
    }
    model.read(&send(&mut connection));
    let answer = std::mem::take(&mut model.out);
    feed(&mut connection, &answer, 7).expect("by the book");
    assert_eq!(model.copied, [0, 0, 0, 1, 1, 1]);
    assert!(connection.is_idle());
}
