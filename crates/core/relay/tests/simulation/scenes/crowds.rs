//! Many clients wait for one server connection. The handling of one client must not stay on the stack while the next one is
//! handled.

use super::*;

/// More stack frames than the 2 MiB stack of a thread can hold, of any function.
const CROWD: usize = 20_000;

/// Many clients that have sent `bytes` and wait.
fn crowd(board: &mut Board, bytes: &[u8]) -> Vec<ClientKey> {
    let clients: Vec<ClientKey> =
        (0..CROWD).map(|_| board.client_accepted(false).expect("a client is welcome")).collect();
    clients.iter().for_each(|client| board.client_bytes(*client, bytes, &mut NoDirectSend));
    clients
}

fn unlimited() -> Flavour {
    Flavour { mode: PoolMode::Transaction, pool_size: 1, ..plain() }
}

/// How many clients the board has disconnected with an error of this SQLSTATE.
fn closed(board: &mut Board, code: &str) -> usize {
    std::iter::from_fn(|| board.next_action())
        .filter(|action| match action {
            Action::CloseClient(_, last) => {
                let mut last = last.clone();
                let told: Vec<Vec<u8>> = std::iter::from_fn(|| take(&mut last)).collect();
                told.last().is_some_and(|error| error[0] == b'E' && field(error, b'C') == code)
            }
            _ => false,
        })
        .count()
}

#[test]
fn thousands_of_waiting_malformed_turns_are_refused_one_after_the_other() {
    let [board] = boards_with_flavour(&unlimited());
    let (mut board, _, server) = lent(board, "", &text(b'Q', "SELECT 1").bytes);
    let turn = [start_up(""), frame(b'P', b"no end").bytes, frame(b'S', b"").bytes].concat();
    crowd(&mut board, &turn);
    let last = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(last, &[start_up(""), text(b'Q', "SELECT last").bytes].concat(), &mut NoDirectSend);
    board.server_bytes(server, &answers(&[(b'C', b"SELECT 1\0"), (b'Z', b"I")]), &mut NoDirectSend);
    assert_eq!(closed(&mut board, "08P01"), CROWD);
    let sent = String::from_utf8_lossy(board.server_unsent(server)).into_owned();
    assert!(sent.contains("SELECT last"), "the client that waited after them is not served");
}

#[test]
fn thousands_of_logins_that_wait_for_a_pools_first_connection_end() {
    let [mut board] = boards_with_flavour(&unlimited());
    let clients = crowd(&mut board, &start_up(""));
    opened(&mut board);
    let welcome = clients.iter().filter(|client| tags(&board, **client).ends_with('Z')).count();
    assert_eq!(welcome, CROWD);
}

#[test]
fn thousands_of_clients_with_an_impossible_parameter_name_are_refused() {
    let [mut board] = boards_with_flavour(&Flavour { mode: PoolMode::Session, ..unlimited() });
    crowd(&mut board, &start_up("no name\x001\0"));
    opened(&mut board);
    assert_eq!(closed(&mut board, "22023"), CROWD);
}

#[test]
fn thousands_of_look_ups_are_refused_when_a_reload_removes_the_look_up() {
    let flavour = Flavour { passwords: true, ..unlimited() };
    let [mut board] = boards_with_flavour(&flavour);
    crowd(&mut board, b"\0\0\0\x1b\0\x03\0\0user\0w\0database\0d\0\0");
    let none = Edition { look_up: false, epoch: 2, ..flavour.edition() };
    board.handle_mail(Mail::Reload(Arc::new(flavour.directory(&none))));
    opened(&mut board);
    assert_eq!(closed(&mut board, "57P03"), CROWD);
}

#[test]
fn thousands_of_waiting_clients_are_told_that_there_is_no_server() {
    let [mut board] = boards_with_flavour(&unlimited());
    let turn = [text(b'Q', "SELECT 1").bytes, text(b'Q', "SELECT 2").bytes].concat();
    crowd(&mut board, &[start_up(""), turn].concat());
    let Some(Action::Connect(server, _)) = board.next_action() else { panic!("no connection is opened") };
    board.server_closed(server, "there is no server");
    assert_eq!(closed(&mut board, "08006"), CROWD);
}

/// Each client waits with two turns, so an error follows the first error.
#[test]
fn thousands_of_waiting_turns_fail_with_their_server() {
    let [board] = boards_with_flavour(&unlimited());
    let (mut board, _, server) = lent(board, "", &text(b'Q', "SELECT 1").bytes);
    let turn = [text(b'Q', "SELECT 1").bytes, text(b'Q', "SELECT 2").bytes].concat();
    let clients = crowd(&mut board, &[start_up(""), turn].concat());
    board.server_closed(server, "the server is gone");
    let dialled = std::iter::from_fn(|| board.next_action()).find_map(|action| match action {
        Action::Connect(server, _) => Some(server),
        _ => None,
    });
    board.server_closed(dialled.expect("a connection is opened"), "there is no server");
    let told = clients.iter().filter(|client| tags(&board, **client).ends_with("ZEZEZ")).count();
    assert_eq!(told, CROWD);
}

/// Messages that one client sends at once.
const FLOOD: usize = 30_000;

fn parse_bind_execute(name: &str) -> Vec<u8> {
    let bind = [b"\0", name.as_bytes(), &[0; 7]].concat();
    let parse = frame(b'P', format!("{name}\0SELECT 1\0\0\0").as_bytes()).bytes;
    [parse, frame(b'B', &bind).bytes, frame(b'D', b"P\0").bytes, frame(b'E', &[0; 5]).bytes].concat()
}

/// A client that sends thousands of messages before its Sync gets a limited share of each round. Then the other clients are
/// served.
#[test]
fn other_clients_are_served_while_one_sends_thousands_of_messages() {
    let [board] = boards_with_flavour(&Flavour { pool_size: 2, ..unlimited() });
    let begun = [parse_bind_execute(""), frame(b'H', b"").bytes].concat();
    let (mut board, flooding, server) = lent(board, "", &begun);
    let flood = [parse_bind_execute("").repeat(FLOOD / 4), frame(b'S', b"").bytes].concat();
    let other = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(other, &start_up(""), &mut NoDirectSend);
    board.client_bytes(flooding, &flood, &mut NoDirectSend);
    let mut rounds = 0;
    let mut sent_before = 0;
    while board.is_round_due() {
        assert!(board.client_paused(flooding), "the board still reads from it");
        let sent = board.server_unsent(server).len();
        assert!((1..60_000).contains(&(sent - sent_before)), "{} bytes in one round", sent - sent_before);
        (sent_before, rounds) = (sent, rounds + 1);
        if rounds == 2 {
            board.client_bytes(other, &text(b'Q', "SELECT other").bytes, &mut NoDirectSend);
            let second = opened(&mut board);
            assert!(board.server_unsent(second).ends_with(b"SELECT other\0"), "the other client waits");
        }
        board.next_round();
    }
    assert!(rounds >= FLOOD / 1_000 - 1, "{rounds} rounds");
    assert!(board.server_unsent(server).ends_with(&frame(b'S', b"").bytes));
    let answer = answers(&[(b'1', b""), (b'2', b""), (b'n', b""), (b'C', b"SELECT 0\0")]);
    board.server_bytes(server, &answer.repeat(FLOOD / 4 + 1), &mut NoDirectSend);
    board.server_bytes(server, &answers(&[(b'Z', b"I")]), &mut NoDirectSend);
    let told = tags(&board, flooding);
    assert!(told.ends_with("12nCZ") && told.matches("12nC").count() == FLOOD / 4 + 1);
}

/// A worker parses only some thousand bytes of new texts in a round here.
#[test]
fn the_parsing_of_texts_gets_a_limited_share_of_a_round() {
    let (mut board, client, server) = scene(&text(b'Q', "SET my.x = 0").bytes);
    let sets: Vec<u8> = (1..=2_000).flat_map(|n| text(b'Q', &format!("SET my.x = {n}")).bytes).collect();
    board.server_bytes(server, &answers(&[(b'C', b"SET\0"), (b'Z', b"I")]), &mut NoDirectSend);
    let client_has_it = |board: &Board| board.clients().any(|(_, client)| client.server() == Some(server));
    board.client_bytes(client, &sets, &mut NoDirectSend);
    assert!(client_has_it(&board));
    let queries =
        |board: &Board| board.server_unsent(server).windows(8).filter(|text| *text == b"SET my.x").count();
    let (mut rounds, mut before) = (0, 1);
    while board.is_round_due() {
        let sent = queries(&board);
        assert!((100..1_000).contains(&(sent - before)), "{} texts in one round", sent - before);
        (rounds, before) = (rounds + 1, sent);
        board.next_round();
    }
    assert!(rounds >= 3 && queries(&board) == 2_001, "{rounds} rounds, {} texts", queries(&board));
}

/// The remaining messages of a client that has gone are not processed.
#[test]
fn messages_of_a_closed_client_are_not_processed_in_the_next_round() {
    let begun = [parse_bind_execute(""), frame(b'H', b"").bytes].concat();
    let (mut board, flooding, server) = scene(&begun);
    board.client_bytes(flooding, &parse_bind_execute("").repeat(FLOOD / 4), &mut NoDirectSend);
    assert!(board.is_round_due());
    let before = board.server_unsent(server).len();
    board.client_closed(flooding);
    board.next_round();
    assert!(!board.is_round_due());
    let mut sent = board.server_unsent(server)[before..].to_vec();
    let sent: String = std::iter::from_fn(|| take(&mut sent)).map(|message| char::from(message[0])).collect();
    assert_eq!(sent, "fES", "only what makes its turn fail, and ends it");
}

/// A client that always has unanswered turns gives its connection back if others wait. A client in a transaction keeps it.
#[test]
fn an_endless_pipeline_does_not_keep_others_from_the_connection() {
    let select = text(b'Q', "SELECT mine").bytes;
    for status in [b"I", b"T"] {
        let (mut board, pipelining, server) = scene(&select);
        let other = board.client_accepted(false).expect("a client is welcome");
        board.client_bytes(other, &start_up(""), &mut NoDirectSend);
        board.client_bytes(other, &text(b'Q', "SELECT other").bytes, &mut NoDirectSend);
        board.server_sent(server, board.server_unsent(server).len());
        let (mut others_turn, mut owed) = (0, 1);
        for turn in 1..1_000 {
            board.client_bytes(pipelining, &select.repeat(2), &mut NoDirectSend);
            let mut unsent = board.server_unsent(server).to_vec();
            board.server_sent(server, unsent.len());
            if unsent.ends_with(b"SELECT other\0") {
                others_turn = turn;
                break;
            }
            owed += std::iter::from_fn(|| take(&mut unsent)).count();
            assert!(owed > 0, "turn {turn} is not sent");
            board.server_bytes(server, &answers(&[(b'C', b"SELECT 1\0"), (b'Z', status)]), &mut NoDirectSend);
            owed -= 1;
        }
        assert_eq!(others_turn, if status == b"I" { 101 } else { 0 });
    }
}

/// If a BEGIN is lost, the messages after it would run, and commit, outside a transaction.
#[test]
fn the_messages_after_a_lost_begin_are_not_run() {
    let block = |begin: &str| -> Vec<u8> {
        [begin, "INSERT", "ROLLBACK"].iter().flat_map(|sql| text(b'Q', sql).bytes).collect()
    };
    let begin = [
        frame(b'P', b"\0BEGIN\0\0\0").bytes,
        frame(b'B', &[0; 8]).bytes,
        frame(b'E', &[0; 5]).bytes,
        frame(b'S', b"").bytes,
    ];
    let prepared = [begin.concat(), block("SELECT 1")].concat();
    for (turns, closed) in [
        (block("BEGIN"), true),
        (block("/* c */ start transaction"), true),
        (block("SELECT 1; BEGIN"), true),
        (prepared, true),
        (block("SELECT 1"), false),
        (text(b'Q', "BEGIN").bytes, false),
    ] {
        // First while it waits for a connection, then while it is on its way to the server.
        for waits in [true, false] {
            let (mut board, first, server) = scene(&text(b'Q', "SELECT 1").bytes);
            let client = match waits {
                true => board.client_accepted(false).expect("a client is welcome"),
                false => first,
            };
            if waits {
                board.client_bytes(client, &start_up(""), &mut NoDirectSend);
            } else {
                board.server_bytes(
                    server,
                    &answers(&[(b'C', b"SELECT 1\0"), (b'Z', b"I")]),
                    &mut NoDirectSend,
                );
            }
            board.client_bytes(client, &turns, &mut NoDirectSend);
            board.server_closed(server, "the server is gone");
            if waits {
                let dialled = std::iter::from_fn(|| board.next_action()).find_map(|action| match action {
                    Action::Connect(server, _) => Some(server),
                    _ => None,
                });
                board.server_closed(dialled.expect("a connection is opened"), "there is no server");
            }
            let closes = std::iter::from_fn(|| board.next_action())
                .any(|action| matches!(action, Action::CloseClient(closed, _) if closed == client));
            assert_eq!(closes, closed, "{} {waits}", turns.escape_ascii());
        }
    }
}
