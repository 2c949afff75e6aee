//! Messages that a server sends without being asked: no later client gets them, and they use bounded memory.

use super::*;

fn query() -> Vec<u8> {
    text(b'Q', "SELECT 1").bytes
}

/// What a server may send after its answer: the beginning of a message, or a complete row.
fn strays() -> Vec<Vec<u8>> {
    let row = frame(b'D', b"\0\x01\0\0\0\x06stolen").bytes;
    let notice = frame(b'N', b"SNOTICE\0Mstray\0\0").bytes;
    (1..row.len()).map(|at| row[..at].to_vec()).chain([row.clone(), notice[..9].to_vec()]).collect()
}

#[test]
fn the_next_client_does_not_get_a_stray_message_after_an_answer() {
    for stray in strays() {
        let (mut board, _, server) = scene(&query());
        let next = board.client_accepted(false).expect("a client is welcome");
        board.client_bytes(next, &[start_up(""), query()].concat(), &mut NoDirectSend);
        board.server_bytes(server, &[answers(&DONE), stray.clone()].concat(), &mut NoDirectSend);
        assert_eq!(tags(&board, next).matches(['D', 'N']).count(), 0, "{}", stray.escape_ascii());
        assert!(closes(&mut board, server), "{} leaves the connection clean", stray.escape_ascii());
    }
}

#[test]
fn the_next_client_does_not_get_a_stray_message_on_an_idle_connection() {
    for stray in strays() {
        let (mut board, client, server) = scene(&query());
        board.server_bytes(server, &answers(&DONE), &mut NoDirectSend);
        board.server_bytes(server, &stray, &mut NoDirectSend);
        board.client_bytes(client, &query(), &mut NoDirectSend);
        let lent = board.clients().any(|(_, client)| client.server() == Some(server));
        assert!(!lent, "{} is on the connection of the next turn", stray.escape_ascii());
    }
}

/// The message comes after the answer to our reset query.
#[test]
fn the_next_client_does_not_get_a_stray_message_after_a_reset() {
    for stray in strays() {
        let [mut board] =
            boards_with_flavour(&Flavour { reset_always: true, pool_size: 1, ..transactions() });
        let next = board.client_accepted(false).expect("a client is welcome");
        board.client_bytes(next, &[start_up(""), query()].concat(), &mut NoDirectSend);
        let server = opened(&mut board);
        let reset = answers(&[(b'C', b"DISCARD ALL\0"), (b'Z', b"I")]);
        board.server_bytes(server, &[reset, stray.clone()].concat(), &mut NoDirectSend);
        assert_eq!(tags(&board, next).matches(['D', 'N']).count(), 0, "{}", stray.escape_ascii());
        assert!(closes(&mut board, server), "{} leaves the connection clean", stray.escape_ascii());
    }
}

fn transactions() -> Flavour {
    Flavour { mode: PoolMode::Transaction, ..plain() }
}

/// For example the notice of a server that shuts down.
#[test]
fn a_complete_notice_after_an_answer_does_not_close_the_connection() {
    let (mut board, _, server) = scene(&query());
    let notice = frame(b'N', b"SNOTICE\0Mstray\0\0").bytes;
    board.server_bytes(server, &[answers(&DONE), notice].concat(), &mut NoDirectSend);
    assert!(!closes(&mut board, server));
}

#[test]
fn a_server_that_reports_parameters_without_end_is_closed() {
    let report = |name: &str, value: &str| frame(b'S', format!("{name}\0{value}\0").as_bytes()).bytes;
    let many =
        |count: usize| -> Vec<u8> { (0..count).flat_map(|n| report(&format!("x.p{n}"), "1")).collect() };
    let long = |name: &str| report(name, &"x".repeat(20_000));
    for (reports, closed) in [
        (many(200), false),
        (many(257), true),
        ([long("x.a"), long("x.b"), long("x.c")].concat(), false),
        ([long("x.a"), long("x.b"), long("x.c"), long("x.d")].concat(), true),
        // Repeated reports of the same parameters take no more room.
        ([many(200), many(200), long("x.a"), long("x.a"), long("x.a"), long("x.a")].concat(), false),
    ] {
        let (mut board, _, server) = scene(&query());
        board.server_bytes(server, &reports, &mut NoDirectSend);
        board.server_bytes(server, &answers(&DONE), &mut NoDirectSend);
        assert_eq!(closes(&mut board, server), closed, "{} bytes", reports.len());
    }
}
