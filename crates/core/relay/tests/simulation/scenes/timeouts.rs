//! Servers that stop answering while no client's query is under way.

use super::*;

/// After this many microseconds all timeouts have passed.
const LATER: u64 = 1_000_000_000;

fn timed(connect_query: bool) -> Board {
    let [board] = boards_with_flavour(&Flavour { time_passes: true, pool_size: 1, connect_query, ..plain() });
    board
}

fn pass_time(board: &mut Board) -> Vec<Action> {
    board.set_now(LATER);
    board.tick();
    std::iter::from_fn(|| board.next_action()).collect()
}

/// The timeout of logins did not cover this part of a login.
#[test]
fn a_login_does_not_wait_for_ever_while_its_start_up_parameters_are_tried() {
    let mut board = timed(false);
    let client = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(client, &start_up("work_mem\x0064kB\0"), &mut NoDirectSend);
    let server = opened(&mut board);
    assert!(String::from_utf8_lossy(board.server_unsent(server)).contains("64kB"), "it is not tried");
    let actions = pass_time(&mut board);
    let is_closed = |action: &Action| matches!(action, Action::CloseClient(closed, _) if *closed == client);
    assert!(actions.iter().any(is_closed), "{actions:?}");
}

/// The connection was closed without a log line, and opened again for ever.
#[test]
fn a_connect_query_that_hangs_is_counted_and_logged_as_a_failed_login() {
    let mut board = timed(true);
    let client = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(client, &[start_up(""), text(b'Q', "SELECT 1").bytes].concat(), &mut NoDirectSend);
    let _server = opened(&mut board);
    let actions = pass_time(&mut board);
    let is_told = |action: &Action| matches!(action, Action::Note(note) if format!("{note:?}").contains("server_connect_timeout"));
    assert!(actions.iter().any(is_told), "{actions:?}");
    assert_eq!(board.pools()[0].counters.open_failed, 1);
}
