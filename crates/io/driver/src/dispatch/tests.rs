//! The dispatcher by scripted server bytes: no socket, no runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use trunkline_driver_blocking::parts::Unused;
use trunkline_driver_blocking::{Error, Fate};
use trunkline_session::frontend::connection::{BindTemplate, ConnectionLimits, EncodeError};
use trunkline_session::frontend::{Connection, Pipeline, ServerReady};
use trunkline_wire::Format;
use trunkline_wire::backend::TransactionStatus;
use trunkline_wire::startup::ProtocolVersion;

use super::{Answered, Cause, Dispatcher, Inbox, Owner, Reply, Submitted, Want};
use crate::bounds::Bounds;

const READY: &[u8] = b"Z\0\0\0\x05I";
const ROW: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x01xC\0\0\0\x0dSELECT 1\0";
/// Where in it the DataRow is.
const DATA: std::ops::Range<usize> = 5..17;
const ERROR: &[u8] = b"E\0\0\0\x13SERROR\0C22012\0\0";

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Scene {
    dispatcher: Dispatcher,
    inbox: Inbox,
    unused: Unused,
    woken: Arc<Woken>,
    /// Received and not consumed.
    input: Vec<u8>,
}

impl Scene {
    fn new(bounds: Bounds) -> Self {
        let ready = ServerReady {
            parameters: Vec::new(),
            process_id: 0,
            secret_key: Vec::new(),
            status: TransactionStatus::Idle,
            version: ProtocolVersion::V3_0,
            scram_keys: None,
            channel_bound: false,
        };
        let connection = Connection::new(Box::new(ready), ConnectionLimits::default());
        let unused = Unused::default();
        Self {
            dispatcher: Dispatcher::new(connection, Arc::clone(&unused)),
            inbox: Inbox::new(bounds),
            unused,
            woken: Arc::default(),
            input: Vec::new(),
        }
    }

    fn try_ask(&mut self, want: Want) -> (Submitted, Arc<Reply>) {
        let mut pipeline = Pipeline::new();
        let template = BindTemplate::new(b"s", &[Format::BINARY], 0, &[Format::BINARY]).expect("small");
        pipeline.bind_execute::<EncodeError>(&template, |_| Ok(())).expect("small");
        pipeline.sync();
        let reply = Reply::new(want);
        (self.inbox.submit(Owner::ANYONE, &mut pipeline, [Some(Arc::clone(&reply))]), reply)
    }

    fn ask(&mut self) -> Arc<Reply> {
        let (submitted, reply) = self.try_ask(Want::Whole);
        assert_eq!(submitted, Submitted::Yes);
        reply
    }

    fn is_refused(&mut self, why: Submitted) -> bool {
        self.try_ask(Want::Whole).0 == why
    }

    /// Takes what was submitted and sends all of it. The types of the messages.
    fn send(&mut self) -> String {
        self.dispatcher.take(&mut self.inbox);
        let bytes = self.dispatcher.unsent().to_vec();
        self.dispatcher.handle_sent(bytes.len());
        let (mut tags, mut rest) = (String::new(), &bytes[..]);
        while let Ok(Some(header)) = trunkline_wire::frame::header(rest) {
            tags.push(char::from(header.tag));
            rest = &rest[header.frame_bytes()..];
        }
        tags
    }

    /// The server says this.
    fn hear(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        self.input.extend_from_slice(bytes);
        let consumed = self.dispatcher.handle_input(&self.input)?;
        self.input.drain(..consumed);
        self.dispatcher.note(&mut self.inbox);
        Ok(())
    }

    fn poll(&self, reply: &Reply) -> Poll<Result<Answered, Error>> {
        let waker = Waker::from(Arc::clone(&self.woken));
        reply.poll(&mut Context::from_waker(&waker))
    }

    fn done(&self, reply: &Reply) -> Result<Answered, Error> {
        match self.poll(reply) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => panic!("it is not over"),
        }
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::Relaxed)
    }
}

#[test]
fn answers_go_to_those_who_asked_however_they_are_cut() {
    let answers = [ROW, READY, ERROR, READY, ROW, READY].concat();
    for piece in 1..=answers.len() {
        let mut scene = Scene::new(Bounds::default());
        let asked = [scene.ask(), scene.ask(), scene.ask()];
        // One write for all that is ready, each with its own Sync.
        assert_eq!(scene.send(), "BESBESBES");
        for reply in &asked {
            assert!(scene.poll(reply).is_pending());
        }
        for bytes in answers.chunks(piece) {
            scene.hear(bytes).expect("well formed");
        }
        assert_eq!(scene.woken(), 3, "each once");
        let [one, two, three] = asked.map(|reply| scene.done(&reply));
        assert_eq!(one.expect("rows").frames, ROW);
        let code = two.expect_err("an error").code().expect("a code");
        assert_eq!(code.as_str(), "22012");
        assert_eq!(three.expect("rows").frames, ROW);
        assert_eq!(scene.dispatcher.turns(), 0);
    }
}

#[test]
fn a_reply_that_nobody_reads_is_drained() {
    let mut scene = Scene::new(Bounds::default());
    let (first, second) = (scene.ask(), scene.ask());
    scene.send();
    scene.hear(&ROW[..9]).expect("well formed");
    first.abandon();
    scene.hear(&[&ROW[9..], READY, ROW, READY].concat()).expect("well formed");
    assert_eq!(scene.done(&second).expect("rows").frames, ROW);
}

#[test]
fn a_full_reader_holds_back_what_comes_and_gets_it_later() {
    let mut scene = Scene::new(Bounds::default());
    let (_, reader) = scene.try_ask(Want::Parts { bytes_max: 20 });
    let behind = scene.ask();
    scene.send();
    let (before, row, after) = (&ROW[..DATA.start], &ROW[DATA], &ROW[DATA.end..]);
    let answer = [before, row, row, row, row, after].concat();
    let mut context = Context::from_waker(Waker::noop());
    let mut found = Vec::new();
    let mut times_full = 0;
    for byte in [&answer, READY, ROW, READY].concat() {
        scene.hear(&[byte]).expect("well formed");
        if scene.dispatcher.is_full() {
            times_full += 1;
            assert!(scene.poll(&behind).is_pending());
            let Poll::Ready(Some(Ok(part))) = reader.poll_part(&mut context) else { panic!("it is full") };
            assert!(part.frames.len() >= 20);
            found.extend(part.frames);
        }
    }
    while let Poll::Ready(Some(part)) = reader.poll_part(&mut context) {
        found.extend(part.expect("no error").frames);
    }
    assert!(times_full >= 2 && found == answer, "{times_full} times, {}", found.escape_ascii());
    assert_eq!(scene.done(&behind).expect("rows").frames, ROW);
}

#[test]
fn each_hears_what_became_of_its_query() {
    let mut scene = Scene::new(Bounds::default());
    let (answered, failed, running, sent) = (scene.ask(), scene.ask(), scene.ask(), scene.ask());
    scene.send();
    scene.hear(&[ROW, READY, ERROR].concat()).expect("well formed");
    // The dispatcher has it, the socket has not.
    let unsent = scene.ask();
    scene.dispatcher.take(&mut scene.inbox);
    let in_inbox = scene.ask();
    scene.inbox.hold(Owner(1));
    let parked = scene.ask();
    scene.dispatcher.end(&mut scene.inbox, &Cause::Ended(None));
    assert_eq!(scene.done(&answered).expect("rows").frames, ROW);
    assert!(scene.done(&failed).expect_err("its error had come").code().is_some());
    let fate = |reply: &Arc<Reply>| scene.done(reply).expect_err("it has ended").fate();
    assert_eq!([&running, &sent].map(fate), [Some(Fate::MayHaveRun); 2]);
    assert_eq!([&unsent, &in_inbox, &parked].map(fate), [Some(Fate::NotRun); 3]);
    assert!(scene.is_refused(Submitted::Closed));
}

#[test]
fn what_others_ask_waits_for_the_holder() {
    let mut scene = Scene::new(Bounds::default());
    scene.ask();
    scene.inbox.hold(Owner(7));
    let (other, also) = (scene.ask(), scene.ask());
    let mut query = Pipeline::new();
    query.query(b"begin").expect("small");
    assert_eq!(scene.inbox.submit(Owner(7), &mut query, [None]), Submitted::Yes);
    assert_eq!(scene.send(), "BESQ");
    query.query(b"commit").expect("small");
    scene.inbox.put(Owner(7), &mut query, [None]);
    scene.inbox.release();
    // Right behind the holder's last.
    assert_eq!(scene.send(), "QBESBES");
    let command = b"C\0\0\0\x0aBEGIN\0";
    let answers = [ROW, READY, command, READY, command, READY, ROW, READY, ROW, READY].concat();
    scene.hear(&answers).expect("well formed");
    assert!(scene.done(&other).is_ok() && scene.done(&also).is_ok());
}

#[test]
fn beyond_its_bounds_it_takes_nothing_until_there_is_room() {
    let mut scene = Scene::new(Bounds { turns_max: 2, ..Bounds::default() });
    scene.ask();
    scene.ask();
    assert!(scene.is_refused(Submitted::Full));
    let waker = Waker::from(Arc::clone(&scene.woken));
    assert!(scene.inbox.wait_for_room(&waker));
    scene.send();
    assert!(scene.is_refused(Submitted::Full) && scene.woken() == 0);
    scene.hear(&[ROW, READY].concat()).expect("well formed");
    assert_eq!(scene.woken(), 1);
    scene.ask();

    let mut bytes = Scene::new(Bounds { unsent_bytes_max: 1, ..Bounds::default() });
    bytes.ask();
    assert!(bytes.is_refused(Submitted::Full));
    bytes.send();
    bytes.dispatcher.note(&mut bytes.inbox);
    bytes.ask();
}

#[test]
fn unused_statements_are_closed_in_a_turn_of_their_own() {
    let mut scene = Scene::new(Bounds::default());
    scene.inbox.hold(Owner(1));
    let parked = scene.ask();
    scene.unused.lock().expect("unpoisoned").push("gone".into());
    // It may be what the one that waits is about.
    let mut query = Pipeline::new();
    query.query(b"commit").expect("small");
    scene.inbox.put(Owner(1), &mut query, [None]);
    assert_eq!(scene.send(), "Q");
    scene.inbox.release();
    assert_eq!(scene.send(), "BESCS");
    let command = b"C\0\0\0\x0bCOMMIT\0";
    scene.hear(&[command, READY, ROW, READY, b"3\0\0\0\x04", READY].concat()).expect("well formed");
    assert_eq!(scene.done(&parked).expect("rows").frames, ROW);
    assert_eq!(scene.dispatcher.turns(), 0);
}

#[test]
fn what_the_server_may_not_say_ends_it() {
    for nonsense in
        [&b"D\0\0\0\x06\0\0"[..], READY, b"1\0\0\0\x04", b"HTTP/1.1 400", b"2\0\0\0\x04Z\0\0\0\x05I"]
    {
        let mut scene = Scene::new(Bounds::default());
        let reply = scene.ask();
        scene.send();
        let cause = scene.hear(nonsense).expect_err("nonsense");
        assert!(matches!(cause, Cause::Misbehaved(_)), "{}", nonsense.escape_ascii());
        scene.dispatcher.end(&mut scene.inbox, &cause);
        assert!(scene.done(&reply).expect_err("it has ended").is_closed());
    }
}
