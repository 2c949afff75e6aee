//! Scenes with several unanswered turns of one client.

use super::*;

fn parse(text: &str) -> Vec<u8> {
    let parse = format!("\0{text}\0\0\0");
    [frame(b'P', parse.as_bytes()).bytes, frame(b'S', b"").bytes].concat()
}

fn run() -> Vec<u8> {
    [frame(b'B', &[0; 8]).bytes, frame(b'E', &[0; 5]).bytes, frame(b'S', b"").bytes].concat()
}

/// The turn that executes the BEGIN fails, because its statement is lost. The turns after it must not run outside a
/// transaction.
#[test]
fn a_begin_that_was_prepared_but_not_executed_counts_when_the_server_is_lost() {
    for (prepared, goes_on) in [("BEGIN", false), ("SELECT 1", true)] {
        let insert = text(b'Q', "INSERT").bytes;
        let (mut board, client, server) = scene(&[parse(prepared), run(), insert].concat());
        board.server_closed(server, "the server is gone");
        let there = board.clients().any(|(key, _)| key == client);
        assert_eq!(there, goes_on, "{prepared}");
    }
}

/// Which values a reset brings back depends on the turns before its Execute, also if an earlier turn bound its portal.
#[test]
fn the_execute_of_a_reset_waits_for_earlier_turns() {
    let bound = [
        frame(b'P', b"\0RESET ALL\0\0\0").bytes,
        frame(b'B', b"p\0\0\0\0\0\0\0\0").bytes,
        frame(b'S', b"").bytes,
    ];
    let (mut board, client, server) = scene_of("64kB", &text(b'Q', "BEGIN").bytes);
    board.server_bytes(server, &answers(&[(b'C', b"BEGIN\0"), (b'Z', b"T")]), &mut NoDirectSend);
    board.client_bytes(client, &bound.concat(), &mut NoDirectSend);
    board.server_bytes(server, &answers(&[(b'1', b""), (b'2', b""), (b'Z', b"T")]), &mut NoDirectSend);
    board.server_sent(server, board.server_unsent(server).len());
    let execute = frame(b'E', b"p\0\0\0\0\0").bytes;
    let sync = frame(b'S', b"").bytes;
    board.client_bytes(client, &[sync.clone(), execute.clone(), sync.clone()].concat(), &mut NoDirectSend);
    assert_eq!(board.server_unsent(server), sync, "one turn is unanswered");
    board.server_bytes(server, &answers(&[(b'Z', b"T")]), &mut NoDirectSend);
    assert_eq!(board.server_unsent(server), [sync.clone(), execute, sync].concat());
}

/// The limit on unanswered turns must not keep the rest of a message from being read.
#[test]
fn a_long_query_that_comes_in_pieces_is_read_to_its_end() {
    let flavour = Flavour { mode: PoolMode::Transaction, pool_size: 1, buffer_bytes: 2_000, ..plain() };
    let mut directory = flavour.directory(&flavour.edition());
    directory.limits.outstanding_turns_max = 1;
    let [board] = boards_with(directory);
    let query = text(b'Q', &format!("SELECT '{}'", "x".repeat(10_000))).bytes;
    let (mut board, client, server) = lent(board, "", &query[..6_000]);
    board.server_sent(server, board.server_unsent(server).len());
    assert!(!board.client_paused(client), "the rest of the message is never read");
    board.client_bytes(client, &query[6_000..], &mut NoDirectSend);
    board.server_sent(server, board.server_unsent(server).len());
    assert!(board.client_paused(client), "one turn is under way");
}
