//! A COPY whose client sends what it should not, or not what it should.

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
fn a_copy_whose_data_fails_is_ready_at_the_sync_though_no_copy_done_came() {
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
        // What comes next is a turn of its own.
        board.client_bytes(client, &text(b'Q', "SELECT 1").bytes, &mut NoDirectSend);
        let linked = board.clients().any(|(_, client)| client.server().is_some());
        assert_eq!(linked, !gone);
    }
}

/// The server has read the early Sync, and so runs what was to end the turn of a client that is gone: its answers must not
/// be taken for those that come after them.
#[test]
fn what_ends_a_copy_whose_client_is_gone_may_be_run_or_skipped() {
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
        assert!(!told.contains('I') && told.matches('Z').count() <= 1, "{told} of what another has sent");
    }
}

/// What comes after a reset waits until it is answered, but for what the server waits for.
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
fn a_sync_within_a_copy_that_ends_well_is_not_answered() {
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

/// The server ignores a Sync within a COPY: the transaction is open until another one comes, and nobody else's may end it.
#[test]
fn a_copy_behind_an_early_sync_is_not_committed_by_who_comes_next() {
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

/// Nobody may wait for the other: the server waits for the client's data, so it gets what the client sends.
#[test]
fn what_does_not_belong_into_a_copy_goes_to_the_server() {
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
            assert!(sent.contains(tag), "{tag}, {at_once}: {sent} came to the server, which waits");
            board.server_bytes(server, &answers(&[BAD, LOST]), &mut NoDirectSend);
            let told = tags(&board, client);
            assert!(told.ends_with("GEEZZ") || told.ends_with("GEEZEZ"), "{tag}, {at_once}: {told}");
        }
    }
}
