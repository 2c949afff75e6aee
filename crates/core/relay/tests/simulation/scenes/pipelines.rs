//! Several turns of one client under way.

use super::*;

fn parse(text: &str) -> Vec<u8> {
    let parse = format!("\0{text}\0\0\0");
    [frame(b'P', parse.as_bytes()).bytes, frame(b'S', b"").bytes].concat()
}

fn run() -> Vec<u8> {
    [frame(b'B', &[0; 8]).bytes, frame(b'E', &[0; 5]).bytes, frame(b'S', b"").bytes].concat()
}

/// The turn that would have run the BEGIN fails for want of its statement; what comes after it must not run by itself.
#[test]
fn a_begin_that_was_only_prepared_when_its_server_was_lost_is_a_begin() {
    for (prepared, goes_on) in [("BEGIN", false), ("SELECT 1", true)] {
        let insert = text(b'Q', "INSERT").bytes;
        let (mut board, client, server) = scene(&[parse(prepared), run(), insert].concat());
        board.server_closed(server, "the server is gone");
        let there = board.clients().any(|(key, _)| key == client);
        assert_eq!(there, goes_on, "{prepared}");
    }
}

/// What comes back by a reset depends on the turns before it, wherever its portal was bound.
#[test]
fn a_reset_bound_in_an_earlier_turn_waits_for_the_turns_before_it() {
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

/// The rest of a message is awaited whatever the bound on turns says.
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
