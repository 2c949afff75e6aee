//! A COPY during which the client sends unexpected messages, or leaves expected ones out.

use super::*;

const BAD: (u8, &[u8]) = (b'E', b"SERROR\0VERROR\0C22P02\0Minvalid input syntax\0\0");
const LOST: (u8, &[u8]) = (b'E', b"SFATAL\0VFATAL\0C08P01\0Mprotocol synchronization was lost\0\0");

fn begin() -> Vec<u8> {
    let flush = frame(b'H', b"").bytes;
    let begin = [
        frame(b'P', b"\0COPY t FROM STDIN\0\0\0").bytes,
        frame(b'B', &[0; 8]).bytes,
        frame(b'E', &[0; 5]).bytes,
    ];
    [begin.concat(), flush].concat()
}

fn sent(board: &Board, server: ServerKey, before: usize) -> String {
    let mut sent = board.server_unsent(server)[before..].to_vec();
    std::iter::from_fn(|| take(&mut sent)).map(|message| char::from(message[0])).collect()
}

/// A client sends its data and a Sync, and no CopyDone. The server has failed before it reads the Sync, and answers it.
#[test]
fn after_a_failed_copy_the_sync_is_answered_without_a_copy_done() {
    let data = [frame(b'd', b"x\n").bytes, frame(b'S', b"").bytes].concat();
    for gone in [false, true] {
        let (mut board, client, server) = scene(&begin());
        board.server_bytes(server, &answers(&BEGUN), &mut NoDirectSend);
        let before = board.server_unsent(server).len();
        board.client_bytes(client, &data, &mut NoDirectSend);
        assert_eq!(
            sent(&board, server, before),
            "d",
            "the server may read the Sync before or after its error"
        );
        if gone {
            board.server_closed(server, "the server is gone");
        } else {
            board.server_bytes(server, &answers(&[BAD]), &mut NoDirectSend);
            assert_eq!(sent(&board, server, before), "dS");
            board.server_bytes(server, &answers(&[(b'Z', b"I")]), &mut NoDirectSend);
            assert!(!closes(&mut board, server), "the connection is clean");
        }
        let told = tags(&board, client);
        assert!(told.ends_with("12GEZ"), "{told}");
        // The next message begins a new turn.
        board.client_bytes(client, &text(b'Q', "SELECT 1").bytes, &mut NoDirectSend);
        let linked = board.clients().any(|(_, client)| client.server().is_some());
        assert_eq!(linked, !gone);
    }
}

/// The client has gone, and the board sends messages to end its turn. If the server has read the early Sync, it runs these
/// messages, otherwise it skips them. The next client must not get their answers.
#[test]
fn the_messages_that_end_a_gone_clients_copy_may_be_run_or_skipped() {
    for reads_early in [true, false] {
        let sent = copy(true);
        let without_end = &sent[..sent.len() - frame(b'S', b"").bytes.len()];
        let (mut board, client, server) = scene(without_end);
        board.server_bytes(server, &answers(&BEGUN), &mut NoDirectSend);
        let next = board.client_accepted(false).expect("a client is welcome");
        board.client_closed(client);
        board.client_bytes(next, &[start_up(""), text(b'Q', "SELECT 1").bytes].concat(), &mut NoDirectSend);
        let portal = (b'E', &b"SERROR\0VERROR\0C34000\0Mportal does not exist\0\0"[..]);
        let ready = (b'Z', &b"I"[..]);
        let (early, late) = ([CUT, ready, portal, ready], [CUT, ready]);
        board.server_bytes(server, &answers(if reads_early { &early } else { &late }), &mut NoDirectSend);
        board.cancel_delivered(server, true);
        board.server_bytes(server, &answers(&[(b'I', b""), ready]), &mut NoDirectSend);
        let told = tags(&board, next);
        assert!(!told.contains('I') && told.matches('Z').count() <= 1, "{told}: answers for another client");
    }
}

/// Messages after a reset wait until it is answered, except COPY data for which the server waits.
#[test]
fn a_copy_in_the_turn_of_a_reset_gets_its_data() {
    let reset = [
        frame(b'P', b"\0RESET ALL\0\0\0").bytes,
        frame(b'B', &[0; 8]).bytes,
        frame(b'E', &[0; 5]).bytes,
        text(b'Q', "COPY t FROM STDIN").bytes,
    ];
    let (mut board, client, server) = scene_of("64kB", &reset.concat());
    let data = [frame(b'd', b"x\n").bytes, frame(b'c', b"").bytes].concat();
    board.client_bytes(client, &data, &mut NoDirectSend);
    let before = board.server_unsent(server).len();
    let begun = [(b'1', &b""[..]), (b'2', b""), (b'C', b"RESET\0"), (b'G', &[0; 3])];
    board.server_bytes(server, &answers(&begun), &mut NoDirectSend);
    assert_eq!(sent(&board, server, before), "dc");
}

#[test]
fn a_sync_during_a_successful_copy_is_not_answered() {
    let (mut board, client, server) = scene(&begin());
    board.server_bytes(server, &answers(&BEGUN), &mut NoDirectSend);
    let before = board.server_unsent(server).len();
    let (data, sync) = (frame(b'd', b"x\n").bytes, frame(b'S', b"").bytes);
    let rest = [data, sync.clone(), frame(b'c', b"").bytes, sync].concat();
    board.client_bytes(client, &rest, &mut NoDirectSend);
    assert_eq!(sent(&board, server, before), "dcS");
    board.server_bytes(server, &answers(&[(b'C', b"COPY 1\0"), (b'Z', b"I")]), &mut NoDirectSend);
    assert!(tags(&board, client).ends_with("12GCZ"));
    assert!(!closes(&mut board, server));
}

/// The server ignores a Sync during a COPY, so the transaction stays open until another Sync. That must not be the Sync of
/// another client.
#[test]
fn a_copy_after_an_early_sync_is_not_committed_by_the_next_client() {
    let sync = frame(b'S', b"").bytes;
    let (mut board, client, server) = scene(&[begin(), sync].concat());
    board.server_bytes(server, &answers(&BEGUN), &mut NoDirectSend);
    let rest = [frame(b'd', b"x\n").bytes, frame(b'c', b"").bytes].concat();
    board.client_bytes(client, &rest, &mut NoDirectSend);
    board.server_bytes(server, &answers(&[(b'C', b"COPY 1\0")]), &mut NoDirectSend);
    let before = board.server_unsent(server).len();
    board.client_closed(client);
    assert!(sent(&board, server, before).ends_with('S') || closes(&mut board, server));
}

/// The server waits for the client's data, so it must get whatever the client sends. Otherwise both wait for ever.
#[test]
fn other_messages_during_a_copy_go_to_the_server() {
    let (parse, close) = (frame(b'P', b"s\0SELECT 1\0\0\0").bytes, frame(b'C', b"Ss\0").bytes);
    let sync = frame(b'S', b"").bytes;
    let copy = text(b'Q', "COPY t FROM STDIN").bytes;
    for (wrong, tag) in [(parse.clone(), "P"), (close, "C"), (frame(b'D', b"Ss\0").bytes, "D")] {
        for at_once in [false, true] {
            let (mut board, client, server) = scene(&[parse.clone(), sync.clone()].concat());
            board.server_bytes(server, &answers(&[(b'1', b""), (b'Z', b"I")]), &mut NoDirectSend);
            let wrong = [wrong.clone(), sync.clone()].concat();
            let first = if at_once { [copy.clone(), wrong.clone()].concat() } else { copy.clone() };
            board.client_bytes(client, &first, &mut NoDirectSend);
            let before = board.server_unsent(server).len();
            board.server_bytes(server, &answers(&[(b'G', &[0; 3])]), &mut NoDirectSend);
            if !at_once {
                board.client_bytes(client, &wrong, &mut NoDirectSend);
            }
            let sent = sent(&board, server, before);
            assert!(sent.contains(tag), "{tag}, {at_once}: the server waits, and only {sent} was sent");
            board.server_bytes(server, &answers(&[BAD, LOST]), &mut NoDirectSend);
            let told = tags(&board, client);
            assert!(told.ends_with("GEEZZ") || told.ends_with("GEEZEZ"), "{tag}, {at_once}: {told}");
        }
    }
}
