//! Single scenes, for cases that are too rare in random runs, or whose outcome cannot be predicted there.

mod copies;
mod crowds;
mod pipelines;
mod shared;
mod statements;
mod strays;
mod timeouts;

use std::sync::Arc;

use trunkline_pool::PoolMode;
use trunkline_relay::prepared::Registry;
use trunkline_relay::turn::Chore;
use trunkline_relay::{
    Action, Board, Classes, ClientKey, DirectSend, Directory, Mail, ServerKey, ServerStage, Shared,
};

use crate::frames::{field, frame, row_description, take, text};
use crate::world::settings::{Edition, Flavour, Limits};

pub(crate) struct NoDirectSend;

impl DirectSend for NoDirectSend {
    fn send_client(&mut self, _: ClientKey, _: &[u8]) -> usize {
        0
    }

    fn send_server(&mut self, _: ServerKey, _: &[u8]) -> usize {
        0
    }
}

/// A client that has a server connection and has sent `turn`.
fn scene(turn: &[u8]) -> (Board, ClientKey, ServerKey) {
    scene_of("", turn)
}

/// The same with a client that sets `work_mem` at start-up, unless that is empty.
fn scene_of(work_mem: &str, turn: &[u8]) -> (Board, ClientKey, ServerKey) {
    scene_in(PoolMode::Transaction, work_mem, turn)
}

fn scene_in(mode: PoolMode, work_mem: &str, turn: &[u8]) -> (Board, ClientKey, ServerKey) {
    let [board] = boards(mode);
    lent(board, work_mem, turn)
}

/// Boards of workers that may have one server connection together.
pub(crate) fn boards<const N: usize>(mode: PoolMode) -> [Board; N] {
    boards_with_flavour(&Flavour { mode, pool_size: 1, ..plain() })
}

/// Settings with which nothing happens by itself.
pub(crate) fn plain() -> Flavour {
    let any = Flavour::draw(&mut fastrand::Rng::with_seed(1));
    let any = Flavour { passwords: false, limits: Limits::default(), connect_query: false, ..any };
    Flavour {
        early: None,
        min_size: 0,
        reset_always: false,
        round_messages_max: 1_000,
        lent_turns_max: 100,
        ..any
    }
}

pub(crate) fn boards_with_flavour<const N: usize>(flavour: &Flavour) -> [Board; N] {
    boards_with(flavour.directory(&flavour.edition()))
}

fn boards_with<const N: usize>(directory: Directory) -> [Board; N] {
    let directory = Arc::new(directory);
    let shared = Arc::new(Shared::new(N, Registry::new(1 << 16), Classes::new(1 << 16, 7)));
    let entropy = || Box::new(|bytes: &mut [u8]| bytes.fill(7));
    std::array::from_fn(|worker| Board::new(worker, Arc::clone(&shared), Arc::clone(&directory), entropy()))
}

pub(crate) fn lent(mut board: Board, work_mem: &str, turn: &[u8]) -> (Board, ClientKey, ServerKey) {
    let client = board.client_accepted(false).expect("a client is welcome");
    let own = if work_mem.is_empty() { String::new() } else { format!("work_mem\0{work_mem}\0") };
    board.client_bytes(client, &start_up(&own), &mut NoDirectSend);
    let server = opened(&mut board);
    if !own.is_empty() {
        board.server_bytes(server, &answers(&[(b'C', b"SET\0"), (b'Z', b"I")]), &mut NoDirectSend);
    }
    board.client_bytes(client, turn, &mut NoDirectSend);
    let lent = board.clients().any(|(_, client)| client.server() == Some(server));
    assert!(lent, "the client has no server connection");
    (board, client, server)
}

/// The server connection that the board opens next, logged in.
fn opened(board: &mut Board) -> ServerKey {
    let Some(Action::Connect(server, _)) = board.next_action() else { panic!("no connection is opened") };
    log_in(board, server);
    server
}

pub(crate) fn log_in(board: &mut Board, server: ServerKey) {
    board.server_connected(server);
    let welcome = answers(&[(b'R', &[0; 4]), (b'K', &[0, 0, 0, 1, 0, 0, 0, 2]), (b'Z', b"I")]);
    board.server_bytes(server, &welcome, &mut NoDirectSend);
}

fn start_up(parameters: &str) -> Vec<u8> {
    let body = format!("\0\x03\0\0user\0u\0database\0d\0{parameters}\0");
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    [&length, body.as_bytes()].concat()
}

/// The types of the messages that the client will get.
fn tags(board: &Board, client: ClientKey) -> String {
    let mut unsent = board.client_unsent(client).to_vec();
    std::iter::from_fn(|| take(&mut unsent)).map(|message| char::from(message[0])).collect()
}

fn closes(board: &mut Board, server: ServerKey) -> bool {
    std::iter::from_fn(|| board.next_action())
        .any(|action| matches!(action, Action::CloseServer(closed, _) if closed == server))
}

fn copy(early_sync: bool) -> Vec<u8> {
    let sync = frame(b'S', b"").bytes;
    let begin = [
        frame(b'P', b"\0COPY t FROM STDIN\0\0\0").bytes,
        frame(b'B', &[0; 8]).bytes,
        frame(b'E', &[0; 5]).bytes,
    ];
    let early = if early_sync { sync.clone() } else { Vec::new() };
    [begin.concat(), early, frame(b'd', b"x").bytes, frame(b'c', b"").bytes, sync].concat()
}

pub(crate) fn answers(of: &[(u8, &[u8])]) -> Vec<u8> {
    of.iter().flat_map(|(tag, body)| frame(*tag, body).bytes).collect()
}

const BEGUN: [(u8, &[u8]); 3] = [(b'1', b""), (b'2', b""), (b'G', &[0; 3])];
const DONE: [(u8, &[u8]); 2] = [(b'C', b"SELECT 1\0"), (b'Z', b"I")];
const CUT: (u8, &[u8]) = (b'E', b"SERROR\0VERROR\0C57014\0Mcanceling statement\0\0");

/// When a COPY fails, the server may or may not have read the early Sync, so one or two ReadyForQuery may come. We know
/// how many only when the server has answered a later query. The second one belongs to this client and not to the next
/// one.
#[test]
fn after_a_failed_copy_with_an_early_sync_all_answers_come_before_the_next_client() {
    for ready in [1, 2] {
        let (mut board, client, server) = scene(&copy(true));
        board.server_bytes(server, &answers(&BEGUN), &mut NoDirectSend);
        board.server_bytes(server, &answers(&[CUT, (b'Z', b"I")]), &mut NoDirectSend);
        assert!(board.server_unsent(server).ends_with(&text(b'Q', "").bytes), "an empty query of ours");
        for _ in 1..ready {
            board.server_bytes(server, &answers(&[(b'Z', b"I")]), &mut NoDirectSend);
        }
        let sent = board.client_unsent(client);
        let answer = [vec![CUT], vec![(b'Z', &b"I"[..]); ready]].concat();
        assert!(sent.ends_with(&answers(&answer)), "the client has its answers");
        let length = sent.len();
        board.server_bytes(server, &answers(&[(b'I', b""), (b'Z', b"I")]), &mut NoDirectSend);
        assert_eq!(board.client_unsent(client).len(), length, "the client gets the answer to our query");
        assert!(!closes(&mut board, server), "the connection is clean");
    }
}

#[test]
fn a_copy_that_succeeds_or_has_no_early_sync_keeps_its_connection() {
    let done = text(b'C', "COPY 1").bytes;
    let ready = answers(&[(b'Z', b"I")]);
    for (early_sync, end) in [(true, done.clone()), (false, done), (false, answers(&[CUT]))] {
        let (mut board, _, server) = scene(&copy(early_sync));
        board.server_bytes(server, &answers(&BEGUN), &mut NoDirectSend);
        board.server_bytes(server, &[end, ready.clone()].concat(), &mut NoDirectSend);
        assert!(!closes(&mut board, server));
    }
}

/// The server is lost after it has answered all messages of a turn that has no Sync yet. The client gets the error, and the
/// next query or Sync gets its ReadyForQuery, so that the client does not wait for ever.
#[test]
fn a_query_after_a_lost_turn_without_sync_is_answered() {
    let turn = [frame(b'C', b"Pp\0").bytes, frame(b'H', b"").bytes].concat();
    let (query, sync) = (text(b'Q', "SELECT 1").bytes, frame(b'S', b"").bytes);
    let execute = frame(b'E', &[0; 5]).bytes;
    for (next, due) in [
        (query.clone(), "Z"),
        (sync.clone(), "Z"),
        ([execute.clone(), query.clone()].concat(), ""),
        ([execute, query.clone(), sync].concat(), "Z"),
    ] {
        let (mut board, client, server) = scene(&turn);
        board.server_bytes(server, &answers(&[(b'3', b"")]), &mut NoDirectSend);
        board.server_closed(server, "the server is gone");
        let told = tags(&board, client);
        assert!(told.ends_with("Z3E"), "{told}");
        board.client_bytes(client, &next, &mut NoDirectSend);
        let told = tags(&board, client);
        assert!(told.ends_with(&format!("Z3E{due}")), "{told} after {}", next.escape_ascii());
        if due.is_empty() {
            continue;
        }
        // The next turn is not part of the lost one: it goes to a server.
        board.client_bytes(client, &query, &mut NoDirectSend);
        assert_eq!(tags(&board, client), told, "after {}", next.escape_ascii());
    }
}

/// What the board sends to the server for another client that has these start-up parameters and asks for `work_mem`.
fn sent_for_another(board: &mut Board, server: ServerKey, parameters: &str) -> String {
    let before = board.server_unsent(server).len();
    let other = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(other, &start_up(parameters), &mut NoDirectSend);
    board.client_bytes(other, &text(b'Q', "SHOW work_mem").bytes, &mut NoDirectSend);
    String::from_utf8_lossy(&board.server_unsent(server)[before..]).into_owned()
}

/// After a RESET we do not know the values of parameters that are not reported, because it may be rolled back and its
/// client may be gone. The next client must still find its own values.
#[test]
fn parameters_that_a_reset_may_have_changed_are_set_for_the_next_client() {
    for (commands, vanishes) in [
        (["RESET"].as_slice(), true),
        (&["DISCARD ALL"], true),
        (&["BEGIN", "RESET", "ROLLBACK"], false),
        (&["BEGIN", "RESET", "ROLLBACK"], true),
    ] {
        let (mut board, client, server) = scene_of("64kB", &text(b'Q', "SELECT reset_all()").bytes);
        if vanishes {
            board.client_closed(client);
        }
        for command in commands {
            board.server_bytes(server, &text(b'C', command).bytes, &mut NoDirectSend);
        }
        board.server_bytes(server, &answers(&[(b'Z', b"I")]), &mut NoDirectSend);
        board.cancel_delivered(server, true);
        assert!(!closes(&mut board, server));
        let sent = sent_for_another(&mut board, server, "");
        let (reset, asked) = (sent.find("RESET work_mem;"), sent.find("SHOW work_mem"));
        assert!(reset.is_some() && reset < asked, "{commands:?}, {vanishes}: {sent:?}");
    }
}

/// The client leaves between the answer to its RESET and the end of the turn.
#[test]
fn a_reset_counts_even_if_its_client_vanishes_before_the_turn_ends() {
    for (text_of_reset, tag) in
        [("RESET ALL", "RESET"), ("RESET work_mem", "RESET"), ("DISCARD ALL", "DISCARD ALL")]
    {
        let (mut board, client, server) = scene_of("64kB", &text(b'Q', text_of_reset).bytes);
        board.server_bytes(server, &text(b'C', tag).bytes, &mut NoDirectSend);
        board.client_closed(client);
        board.server_bytes(server, &answers(&[(b'Z', b"I")]), &mut NoDirectSend);
        board.cancel_delivered(server, true);
        assert!(!closes(&mut board, server));
        let sent = sent_for_another(&mut board, server, "work_mem\x0064kB\0");
        let (set, asked) = (sent.find("SET work_mem=E'64kB'"), sent.find("SHOW work_mem"));
        assert!(set.is_some() && set < asked, "{text_of_reset}: {sent:?}");
    }
}

/// The client must neither be told that its transaction is open, nor get answers to messages after its BEGIN.
#[test]
fn statement_mode_refuses_a_transaction_before_it_is_ready() {
    let begin = text(b'Q', "BEGIN").bytes;
    for behind in [Vec::new(), [text(b'Q', "SELECT 1").bytes, text(b'Q', "COMMIT").bytes].concat()] {
        let (mut board, client, server) =
            scene_in(PoolMode::Statement, "", &[begin.clone(), behind].concat());
        board.server_bytes(server, &answers(&[(b'C', b"BEGIN\0"), (b'Z', b"T")]), &mut NoDirectSend);
        let last = std::iter::from_fn(|| board.next_action()).find_map(|action| match action {
            Action::CloseClient(key, last) if key == client => Some(last),
            _ => None,
        });
        let mut last = last.expect("the client is sent away");
        let told: Vec<Vec<u8>> = std::iter::from_fn(|| take(&mut last)).collect();
        let tags: String = told.iter().map(|message| char::from(message[0])).collect();
        assert!(tags.ends_with("ZCE"), "{tags}");
        let error = told.last().expect("an error");
        assert_eq!((&*field(error, b'V'), &*field(error, b'C')), ("FATAL", "0A000"));
    }
}

/// When a connection is closed, a client that waits in another worker may open one at once, and not only when that
/// worker looks again.
#[test]
fn the_worker_with_a_waiting_client_learns_of_a_free_place_in_the_pool() {
    let [first, mut second] = boards(PoolMode::Transaction);
    let (mut first, _, server) = lent(first, "", &text(b'Q', "SELECT 1").bytes);
    let client = second.client_accepted(false).expect("a client is welcome");
    second.client_bytes(client, &start_up(""), &mut NoDirectSend);
    second.client_bytes(client, &text(b'Q', "SELECT 1").bytes, &mut NoDirectSend);
    let opens = |board: &mut Board| {
        std::iter::from_fn(|| board.next_action()).any(|action| matches!(action, Action::Connect(..)))
    };
    assert!(!opens(&mut second), "the pool is full");
    first.server_closed(server, "the server is gone");
    while let Some(action) = first.next_action() {
        if let Action::Mail(1, mail) = action {
            second.handle_mail(mail);
        }
    }
    assert!(opens(&mut second), "the second worker was not told of the place");
}

/// The connection was offered to that worker again and again, and the board did nothing else.
#[test]
fn a_connection_that_another_worker_does_not_take_is_closed() {
    let [first, mut second] = boards(PoolMode::Transaction);
    let (mut first, client, server) = lent(first, "", &text(b'Q', "SELECT 1").bytes);
    let waiting = second.client_accepted(false).expect("a client is welcome");
    let query = text(b'Q', "SELECT 1").bytes;
    second.client_bytes(waiting, &[start_up(""), query].concat(), &mut NoDirectSend);
    first.server_bytes(server, &answers(&[(b'C', b"SELECT 1\0"), (b'Z', b"I")]), &mut NoDirectSend);
    first.client_closed(client);
    let mail = |from: &mut Board, to: &mut Board| {
        while let Some(action) = from.next_action() {
            match action {
                Action::Mail(_, mail) => to.handle_mail(mail),
                Action::Handoff(_, _, server) => from.handoff_failed(server),
                Action::Connect(..) => return true,
                _ => {}
            }
        }
        false
    };
    mail(&mut second, &mut first);
    mail(&mut first, &mut second);
    assert_eq!(first.servers().count(), 0, "it is kept");
    assert!(mail(&mut second, &mut first), "the place of the closed connection is not used");
}

/// No client can bind the statement of a password look-up: it is closed, or the board knows that the server has it.
#[test]
fn a_look_up_leaves_no_statement_behind() {
    for (answer, left) in [
        (answers(&[(b'1', b""), (b'2', b""), (b'C', b"SELECT 0\0"), (b'3', b"")]), false),
        (answers(&[CUT]), false),
        (answers(&[(b'1', b""), CUT]), true),
    ] {
        for mode in [PoolMode::Transaction, PoolMode::Session] {
            let [mut board] = boards_with_flavour(&Flavour { mode, passwords: true, ..plain() });
            let client = board.client_accepted(false).expect("a client is welcome");
            let start_up = b"\0\0\0\x1b\0\x03\0\0user\0w\0database\0d\0\0";
            board.client_bytes(client, start_up, &mut NoDirectSend);
            let server = opened(&mut board);
            board.server_bytes(
                server,
                &[answer.clone(), answers(&[(b'Z', b"I")])].concat(),
                &mut NoDirectSend,
            );
            let (_, found) = board.servers().find(|(key, _)| *key == server).expect("it is there");
            let reset = matches!(found.stage(), ServerStage::Chore(Chore::Reset));
            // In session mode a client could bind it, so the connection is reset. In other modes the board closes it first.
            assert_eq!(reset, left && mode == PoolMode::Session, "{mode:?}");
            assert_eq!(found.has_unnamed_statement(), left && !reset, "{mode:?}");
            let mut sent = board.server_unsent(server).to_vec();
            // The start-up message has no type.
            sent.insert(0, b'-');
            let sent: Vec<_> = std::iter::from_fn(|| take(&mut sent)).map(|message| message[0]).collect();
            assert!(sent.windows(5).any(|tags| tags == b"PBECS"), "{}", sent.escape_ascii());
        }
    }
}

/// The board has asked for a statement's result columns, and then prepares the statement again in the same turn. The
/// statement is not outdated, so the board must ask again.
#[test]
fn a_statement_that_came_back_within_its_turn_is_asked_about_again() {
    let [board] = boards_with_flavour(&Flavour { mode: PoolMode::Transaction, prepared_max: 1, ..plain() });
    let parse = |name: &str| frame(b'P', format!("{name}\0SELECT {name}\0\0\0").as_bytes()).bytes;
    let bind = |name: &str| {
        let bind = [b"\0", name.as_bytes(), &[0; 7]].concat();
        [frame(b'B', &bind).bytes, frame(b'E', &[0; 5]).bytes].concat()
    };
    let sync = frame(b'S', b"").bytes;
    let described = [frame(b't', &[0, 0]), row_description(&["answer"])];
    let described = described.map(|frame| frame.bytes).concat();
    let ready = answers(&[(b'Z', b"I")]);

    let told = [parse("a"), frame(b'D', b"Sa\0").bytes, sync.clone()].concat();
    let (mut board, client, server) = lent(board, "", &told);
    let parsed = answers(&[(b'1', b"")]);
    board.server_bytes(server, &[parsed, described.clone(), ready.clone()].concat(), &mut NoDirectSend);
    board.client_bytes(client, &[parse("b"), sync.clone()].concat(), &mut NoDirectSend);
    let replaced = answers(&[(b'3', b""), (b'1', b"")]);
    board.server_bytes(server, &[replaced.clone(), ready].concat(), &mut NoDirectSend);
    board.server_sent(server, board.server_unsent(server).len());
    board.client_bytes(client, &[bind("a"), bind("b"), bind("a"), sync].concat(), &mut NoDirectSend);
    board.server_bytes(server, &[replaced, described].concat(), &mut NoDirectSend);
    let mut sent = board.server_unsent(server).to_vec();
    let sent: Vec<_> = std::iter::from_fn(|| take(&mut sent)).map(|message| message[0]).collect();
    // `a` is prepared in place of `b` and described; its Bind; `b` in place of `a`; then the same for `a` again.
    assert_eq!(sent.escape_ascii().to_string(), "CPDHBECPBECPDH");
}

/// If a start-up parameter is refused, we do not know which ones before it were set, so the connection must be closed,
/// even if the client has gone.
#[test]
fn a_connection_is_closed_if_start_up_parameters_fail_after_the_client_has_gone() {
    let [mut board] = boards(PoolMode::Transaction);
    let client = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(client, &start_up("work_mem\x0064kB\0TimeZone\0bad\0"), &mut NoDirectSend);
    let server = opened(&mut board);
    board.client_closed(client);
    let refused: (u8, &[u8]) = (b'E', b"SERROR\0VERROR\0C22023\0Minvalid value\0\0");
    board.server_bytes(server, &answers(&[refused, (b'Z', b"I")]), &mut NoDirectSend);
    board.cancel_delivered(server, true);
    assert!(closes(&mut board, server));
}

/// In session mode clients have statements on the server itself. No client must find another client's statement there.
#[test]
fn a_pool_that_changes_to_session_mode_begins_with_no_statements() {
    let flavour = |mode| Flavour { mode, ..plain() };
    let [board] = boards_with_flavour(&flavour(PoolMode::Transaction));
    let prepare = [frame(b'P', b"s\0SELECT 1\0\0\0").bytes, frame(b'S', b"").bytes].concat();
    let (mut board, client, server) = lent(board, "", &prepare);
    let prepared = answers(&[(b'1', b""), (b'Z', b"I")]);
    board.server_bytes(server, &prepared, &mut NoDirectSend);
    let second = Edition { epoch: 2, ..flavour(PoolMode::Transaction).edition() };
    board.handle_mail(Mail::Reload(Arc::new(flavour(PoolMode::Session).directory(&second))));
    board.tick();
    assert!(closes(&mut board, server), "statements of earlier clients are on the connection");
    // A client from before the reload goes on as before, and leaves no statement.
    board.client_bytes(
        client,
        &[frame(b'D', b"Ss\0").bytes, frame(b'S', b"").bytes].concat(),
        &mut NoDirectSend,
    );
    let server = std::iter::from_fn(|| board.next_action())
        .find_map(|action| match action {
            Action::Connect(server, _) => Some(server),
            _ => None,
        })
        .expect("a connection is opened");
    log_in(&mut board, server);
    let described = [frame(b't', &[0, 0]), row_description(&["answer"])].map(|frame| frame.bytes).concat();
    let answer = [answers(&[(b'1', b"")]), described, answers(&[(b'Z', b"I")])].concat();
    board.server_bytes(server, &answer, &mut NoDirectSend);
    let (_, found) = board.servers().find(|(key, _)| *key == server).expect("it is there");
    assert!(matches!(found.stage(), ServerStage::Chore(Chore::Reset)), "{:?}", found.stage());
}

/// While a client logs in, a reload removes its database or the look-up of its password. Returns the SQLSTATE with
/// which the client is refused.
fn refused_in_login(user: &str, reload: &Edition, messages: &[u8], opens: bool) -> (Board, String) {
    let flavour = Flavour { passwords: true, mode: PoolMode::Transaction, ..plain() };
    let [mut board] = boards_with_flavour(&flavour);
    let client = board.client_accepted(false).expect("a client is welcome");
    let start_up = format!("\0\0\0\x1b\0\x03\0\0user\0{user}\0database\0d\0\0");
    board.client_bytes(client, start_up.as_bytes(), &mut NoDirectSend);
    let reload = Edition { epoch: 2, ..reload.clone() };
    board.handle_mail(Mail::Reload(Arc::new(flavour.directory(&reload))));
    if opens {
        opened(&mut board);
    }
    board.client_bytes(client, messages, &mut NoDirectSend);
    let last = std::iter::from_fn(|| board.next_action()).find_map(|action| match action {
        Action::CloseClient(key, last) if key == client => Some(last),
        _ => None,
    });
    let mut last = last.expect("the client hangs");
    let code = std::iter::from_fn(|| take(&mut last)).last().map(|error| field(&error, b'C'));
    (board, code.expect("it is told why"))
}

#[test]
fn a_login_ends_whose_database_is_no_longer_served() {
    let password = text(b'p', "secret of u").bytes;
    let gone = Edition { present: false, ..plain().edition() };
    let (_, code) = refused_in_login("u", &gone, &password, false);
    assert_eq!(code, "3D000");
}

#[test]
fn a_login_ends_that_waited_for_a_look_up_which_is_no_longer_done() {
    let none = Edition { look_up: false, ..plain().edition() };
    let (board, code) = refused_in_login("w", &none, b"", true);
    assert_eq!(code, "57P03");
    let idle = |server: &trunkline_relay::Server| matches!(server.stage(), ServerStage::Idle);
    assert!(board.servers().all(|(_, server)| idle(server)), "its server connection came back");
}
