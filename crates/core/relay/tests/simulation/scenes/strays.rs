//! What a server says unasked belongs to nobody who comes later, and is bounded.

use super::*;

fn query() -> Vec<u8> {
    text(b'Q', "SELECT 1").bytes
}

/// What a server may send after its answer: the beginnings of messages, and a whole one that nobody has asked for.
fn strays() -> Vec<Vec<u8>> {
    let row = frame(b'D', b"\0\x01\0\0\0\x06stolen").bytes;
    let notice = frame(b'N', b"SNOTICE\0Mstray\0\0").bytes;
    (1..row.len()).map(|at| row[..at].to_vec()).chain([row.clone(), notice[..9].to_vec()]).collect()
}

#[test]
fn a_stray_behind_an_answer_is_not_the_next_clients() {
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
fn a_stray_on_an_idle_connection_is_not_the_next_clients() {
    for stray in strays() {
        let (mut board, client, server) = scene(&query());
        board.server_bytes(server, &answers(&DONE), &mut NoDirectSend);
        board.server_bytes(server, &stray, &mut NoDirectSend);
        board.client_bytes(client, &query(), &mut NoDirectSend);
        let lent = board.clients().any(|(_, client)| client.server() == Some(server));
        assert!(!lent, "{} is on the connection of the next turn", stray.escape_ascii());
    }
}

/// It comes after the answer to a query of ours, between two sessions.
#[test]
fn a_stray_behind_a_reset_is_not_the_next_clients() {
    for stray in strays() {
        let [mut board] = boards_of(&Flavour { reset_always: true, pool_size: 1, ..transactions() });
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

/// A notice of a server that is told to stop, say: it harms nobody.
#[test]
fn a_whole_notice_behind_an_answer_costs_no_connection() {
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
        // The same ones again and again take no room.
        ([many(200), many(200), long("x.a"), long("x.a"), long("x.a"), long("x.a")].concat(), false),
    ] {
        let (mut board, _, server) = scene(&query());
        board.server_bytes(server, &reports, &mut NoDirectSend);
        board.server_bytes(server, &answers(&DONE), &mut NoDirectSend);
        assert_eq!(closes(&mut board, server), closed, "{} bytes", reports.len());
    }
}
