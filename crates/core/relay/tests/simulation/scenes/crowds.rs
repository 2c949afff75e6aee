//! Many clients who wait for one server connection: what becomes of one of them must not lie on the stack while the
//! next is served.

use super::*;

/// Above what a thread's 2 MiB of stack can hold of any call's frames.
const CROWD: usize = 20_000;

/// Clients that have sent `bytes` and wait.
fn crowd(board: &mut Board, bytes: &[u8]) -> Vec<ClientKey> {
    let clients: Vec<ClientKey> =
        (0..CROWD).map(|_| board.client_accepted(false).expect("a client is welcome")).collect();
    clients.iter().for_each(|client| board.client_bytes(*client, bytes, &mut NoWires));
    clients
}

fn unlimited() -> Flavour {
    Flavour { mode: PoolMode::Transaction, pool_size: 1, ..plain() }
}

/// How many connections of clients the board has closed, with what they were told last.
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
fn thousands_of_malformed_turns_that_wait_are_refused_one_after_the_other() {
    let [board] = boards_of(&unlimited());
    let (mut board, _, server) = lent(board, "", &text(b'Q', "SELECT 1").bytes);
    let turn = [start_up(""), frame(b'P', b"no end").bytes, frame(b'S', b"").bytes].concat();
    crowd(&mut board, &turn);
    let last = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(last, &[start_up(""), text(b'Q', "SELECT last").bytes].concat(), &mut NoWires);
    board.server_bytes(server, &answers(&[(b'C', b"SELECT 1\0"), (b'Z', b"I")]), &mut NoWires);
    assert_eq!(closed(&mut board, "08P01"), CROWD);
    let sent = String::from_utf8_lossy(board.server_unsent(server)).into_owned();
    assert!(sent.contains("SELECT last"), "who waited behind them is served");
}

#[test]
fn thousands_who_wait_for_the_first_connection_of_a_pool_are_welcomed() {
    let [mut board] = boards_of(&unlimited());
    let clients = crowd(&mut board, &start_up(""));
    opened(&mut board);
    let welcome = clients.iter().filter(|client| tags(&board, **client).ends_with('Z')).count();
    assert_eq!(welcome, CROWD);
}

#[test]
fn thousands_whose_start_up_parameters_have_no_possible_name_are_refused() {
    let [mut board] = boards_of(&Flavour { mode: PoolMode::Session, ..unlimited() });
    crowd(&mut board, &start_up("no name\x001\0"));
    opened(&mut board);
    assert_eq!(closed(&mut board, "22023"), CROWD);
}

#[test]
fn thousands_who_are_looked_up_when_that_ends_are_refused() {
    let flavour = Flavour { passwords: true, ..unlimited() };
    let [mut board] = boards_of(&flavour);
    crowd(&mut board, b"\0\0\0\x1b\0\x03\0\0user\0w\0database\0d\0\0");
    let none = Edition { look_up: false, epoch: 2, ..flavour.edition() };
    board.handle_mail(Mail::Reload(Arc::new(flavour.directory(&none))));
    opened(&mut board);
    assert_eq!(closed(&mut board, "28000"), CROWD);
}

#[test]
fn thousands_who_wait_are_told_that_there_is_no_server() {
    let [mut board] = boards_of(&unlimited());
    let turn = [text(b'Q', "SELECT 1").bytes, text(b'Q', "SELECT 2").bytes].concat();
    crowd(&mut board, &[start_up(""), turn].concat());
    let Some(Action::Connect(server, _)) = board.next_action() else { panic!("no connection is opened") };
    board.server_closed(server, "there is no server");
    assert_eq!(closed(&mut board, "08006"), CROWD);
}

/// Each waits with two turns: those who are told have another to be told of.
#[test]
fn thousands_of_turns_that_wait_fail_with_their_server() {
    let [board] = boards_of(&unlimited());
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
