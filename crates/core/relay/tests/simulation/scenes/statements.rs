//! Prepared statements: too long, outdated or lost ones.

use super::*;

/// A Parse message that is longer than `statement_bytes_max` here (4,096 bytes).
fn long_parse(name: &str) -> Vec<u8> {
    frame(b'P', format!("{name}\0SELECT '{}'\0\0\0", "x".repeat(10_000)).as_bytes()).bytes
}

fn bind(name: &str) -> Vec<u8> {
    let bind = [b"\0", name.as_bytes(), &[0; 7]].concat();
    [frame(b'B', &bind).bytes, frame(b'E', &[0; 5]).bytes].concat()
}

/// What the board has sent to the server: the types of messages, and the beginnings of their bodies.
fn sent(board: &mut Board, server: ServerKey) -> Vec<(char, String)> {
    let mut unsent = board.server_unsent(server).to_vec();
    board.server_sent(server, unsent.len());
    let start = |message: Vec<u8>| {
        let body = message[5..].iter().copied().take_while(|byte| *byte != b' ');
        (char::from(message[0]), body.collect::<Vec<u8>>().escape_ascii().to_string())
    };
    std::iter::from_fn(|| take(&mut unsent)).map(start).collect()
}

#[test]
fn a_statement_too_long_to_be_kept_is_passed_on() {
    let (sync, done) = (frame(b'S', b"").bytes, answers(&[(b'2', b""), (b'C', b"SELECT 1\0"), (b'Z', b"I")]));
    for name in ["", "big"] {
        for size in [1, 100, 20_000] {
            let (mut board, client, server) = scene(&text(b'Q', "SELECT 0").bytes);
            sent(&mut board, server);
            board.server_bytes(server, &answers(&[(b'C', b"SELECT 1\0"), (b'Z', b"I")]), &mut NoDirectSend);
            let turn = [long_parse(name), bind(name), sync.clone()].concat();
            turn.chunks(size).for_each(|piece| board.client_bytes(client, piece, &mut NoDirectSend));
            let parsed = sent(&mut board, server);
            let kinds: String = parsed.iter().map(|(tag, _)| *tag).collect();
            assert_eq!(kinds, "PBES", "{name:?} in pieces of {size}");
            let on_server = parsed[0].1.strip_suffix("\\x00SELECT").expect("a name").to_owned();
            assert_eq!(on_server.is_empty(), name.is_empty());
            assert_ne!(on_server, "big", "other clients may use the same name");
            assert!(parsed[1].1.starts_with(&format!("\\x00{on_server}\\x00")), "{parsed:?}");
            board.server_bytes(server, &[answers(&[(b'1', b"")]), done.clone()].concat(), &mut NoDirectSend);
            assert!(tags(&board, client).ends_with("12CZ"));

            // Another turn finds the statement on the same connection.
            board.client_bytes(client, &[bind(name), sync.clone()].concat(), &mut NoDirectSend);
            let again = sent(&mut board, server);
            assert_eq!(again[0], parsed[1], "{name:?}");
            board.server_bytes(server, &done, &mut NoDirectSend);

            // Another connection does not have it. The client's own name is sent there, so that the error has that name.
            board.server_closed(server, "the server is gone");
            let closed = std::iter::from_fn(|| board.next_action()).count();
            assert!(closed > 0);
            board.client_bytes(client, &[bind(name), sync.clone()].concat(), &mut NoDirectSend);
            let other = opened(&mut board);
            // The StartupMessage has no type.
            let start_up = board.server_unsent(other)[..4].try_into().map(u32::from_be_bytes);
            board.server_sent(other, start_up.expect("a length") as usize);
            let mut lost = sent(&mut board, other);
            lost.retain(|(tag, _)| matches!(tag, 'P' | 'B'));
            assert_eq!(lost, [('B', format!("\\x00{name}\\x00\\x00\\x00\\x00\\x00\\x00\\x00"))], "{name:?}");
        }
    }
}

#[test]
fn a_turn_that_waits_to_be_repeated_fails_with_its_lost_server() {
    let sync = frame(b'S', b"").bytes;
    let parse = [frame(b'P', b"s\0SELECT 1\0\0\0").bytes, sync.clone()].concat();
    let (mut board, client, server) = scene(&parse);
    board.server_bytes(server, &answers(&[(b'1', b""), (b'Z', b"I")]), &mut NoDirectSend);
    board.client_bytes(client, &[bind("s"), sync].concat(), &mut NoDirectSend);
    let told = board.client_unsent(client).len();
    let lost = b"SERROR\0VERROR\0C26000\0Mprepared statement does not exist\0\0";
    board.server_bytes(server, &answers(&[(b'E', lost)]), &mut NoDirectSend);
    assert_eq!(board.client_unsent(client).len(), told, "the turn will be repeated");
    board.server_closed(server, "the server is gone");
    assert!(tags(&board, client).ends_with("EZ"), "{}", tags(&board, client));
}

/// After the failure the connection has its former encoding again, and the statement's text may not be valid in it.
#[test]
fn an_outdated_statement_is_not_prepared_again_in_a_failed_transaction() {
    let changed =
        b"SERROR\0VERROR\0C0A000\0Mcached plan must not change result type\0RRevalidateCachedQuery\0\0";
    let sync = frame(b'S', b"").bytes;
    let turn = [bind("s"), sync.clone()].concat();
    for (status, closes) in [(b"E", false), (b"I", true)] {
        let (mut board, client, server) = scene(&text(b'Q', "BEGIN").bytes);
        board.server_bytes(server, &answers(&[(b'C', b"BEGIN\0"), (b'Z', b"T")]), &mut NoDirectSend);
        let parse = [frame(b'P', b"s\0SELECT 1\0\0\0").bytes, sync.clone()].concat();
        board.client_bytes(client, &parse, &mut NoDirectSend);
        board.server_bytes(server, &answers(&[(b'1', b""), (b'Z', b"T")]), &mut NoDirectSend);
        board.client_bytes(client, &turn, &mut NoDirectSend);
        board.server_bytes(server, &answers(&[(b'E', changed), (b'Z', status)]), &mut NoDirectSend);
        sent(&mut board, server);
        board.client_bytes(client, &turn, &mut NoDirectSend);
        let kinds: String = sent(&mut board, server).iter().map(|(tag, _)| *tag).collect();
        assert_eq!(kinds, if closes { "CPBES" } else { "BES" });
    }
}

/// A function that runs before a Parse may change the settings under which the text is parsed. Other clients must not share
/// that statement.
#[test]
fn a_statement_is_not_shared_if_a_command_before_it_may_change_parse_settings() {
    let parse = frame(b'P', b"s\0SELECT 'x'\0\0\0").bytes;
    let run = [frame(b'P', b"\0SELECT f()\0\0\0").bytes, bind("")].concat();
    let (sync, query) = (frame(b'S', b"").bytes, text(b'Q', "SELECT f()").bytes);
    for (turn, asks, waits) in [
        ([parse.clone(), sync.clone()].concat(), false, false),
        ([run, parse.clone(), sync.clone()].concat(), true, false),
        ([query, parse, sync].concat(), false, true),
    ] {
        let (board, _, server) = scene(&turn);
        let sent = board.server_unsent(server);
        let has = |part: &[u8]| sent.windows(part.len()).any(|at| at == part);
        assert_eq!(has(b"current_setting"), asks, "{}", turn.escape_ascii());
        assert_eq!(!has(b"SELECT 'x'"), waits, "{}", turn.escape_ascii());
    }
}
