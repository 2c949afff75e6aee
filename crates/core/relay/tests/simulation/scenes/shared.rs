//! A server connection that owes answers to several clients.

use trunkline_relay::Stage;

use super::*;

/// The second client gets the connection and sends its turn while the first client's turn is unanswered.
struct Two {
    board: Board,
    first: ClientKey,
    second: ClientKey,
    server: ServerKey,
}

const ROW: (u8, &[u8]) = (b'D', b"\0\x01\0\0\0\x03one");

fn extended(text: &str) -> Vec<u8> {
    let parse = format!("\0{text}\0\0\0");
    let parts = [(b'P', parse.as_bytes()), (b'B', &[0; 8]), (b'E', &[0; 5]), (b'S', b"")];
    parts.map(|(tag, body)| frame(tag, body).bytes).concat()
}

impl Two {
    fn with(first_turn: &[u8], second_turn: &[u8], buffered_bytes_max: usize) -> Self {
        let flavour = Flavour { mode: PoolMode::Transaction, pool_size: 1, buffer_bytes: 300, ..plain() };
        let [board] = boards_with_flavour(&Flavour { early: Some(buffered_bytes_max), ..flavour });
        let (mut board, first, server) = lent(board, "", first_turn);
        let second = board.client_accepted(false).expect("a client is welcome");
        board.client_bytes(second, &[start_up(""), second_turn.to_vec()].concat(), &mut NoDirectSend);
        Self { board, first, second, server }
    }

    /// Both clients have sent a turn.
    fn sent() -> Self {
        let two = Self::with(&text(b'Q', "SELECT 1").bytes, &text(b'Q', "SELECT 2").bytes, 1 << 20);
        assert!(two.is_shared(), "the second waits although the first has sent its turn");
        two
    }

    fn is_shared(&self) -> bool {
        let of =
            |key| self.board.clients().find(|(client, _)| *client == key).map(|(_, client)| client.stage());
        matches!(of(self.first), Some(Stage::Owed(server)) if *server == self.server)
            && matches!(of(self.second), Some(Stage::Linked(server, _)) if *server == self.server)
    }

    fn server_says(&mut self, messages: &[(u8, &[u8])]) {
        self.board.server_bytes(self.server, &answers(messages), &mut NoDirectSend);
    }

    /// What each client got after its login.
    fn told(&self) -> [String; 2] {
        [self.first, self.second].map(|client| {
            let told = tags(&self.board, client);
            told.split_once("KZ").map_or(String::new(), |(_, told)| told.to_owned())
        })
    }
}

#[test]
fn two_clients_get_their_answers_in_the_order_of_their_turns() {
    let mut two = Two::sent();
    two.server_says(&[ROW, DONE[0], DONE[1], ROW]);
    assert_eq!(two.told(), ["DCZ", "D"]);
    // The next turn of the first client waits for a connection, and is the first in the queue.
    two.board.client_bytes(two.first, &text(b'Q', "SELECT 3").bytes, &mut NoDirectSend);
    two.server_says(&DONE);
    assert_eq!(two.told(), ["DCZ", "DCZ"]);
    two.server_says(&DONE);
    assert_eq!(two.told(), ["DCZCZ", "DCZ"]);
    assert!(!closes(&mut two.board, two.server));
}

#[test]
fn an_error_of_the_first_client_does_not_reach_the_second() {
    for first in [text(b'Q', "SELECT 1").bytes, extended("SELECT 1")] {
        let mut two = Two::with(&first, &extended("SELECT 2"), 1 << 20);
        assert!(two.is_shared());
        two.server_says(&[CUT, (b'Z', b"I"), (b'1', b""), (b'2', b""), DONE[0], DONE[1]]);
        assert_eq!(two.told(), ["EZ", "12CZ"]);
        assert!(!closes(&mut two.board, two.server));
    }
}

/// After an error in such a turn the server would skip messages up to the other client's Sync.
#[test]
fn no_client_follows_a_turn_that_may_do_more_than_read_and_write_rows() {
    let first = [&extended("SELECT 1")[..40], &text(b'Q', "SELECT 1").bytes].concat();
    let others = [
        "BEGIN",
        "SET work_mem = 1",
        "SELECT f()",
        "SELECT pg_advisory_lock(1)",
        "SELECT 1; SELECT 2",
        "wrong",
    ];
    let queries = [text(b'Q', "SELECT 1").bytes, text(b'Q', "SELECT 1").bytes].concat();
    let two_queries = [&extended("SELECT 1")[..40], &queries].concat();
    for first in
        others.iter().map(|other| text(b'Q', other).bytes).chain([first, two_queries, extended("SELECT f()")])
    {
        let two = Two::with(&first, &text(b'Q', "SELECT 2").bytes, 1 << 20);
        assert!(!two.is_shared(), "{}", first.escape_ascii());
    }
    let copy = text(b'Q', "COPY t FROM STDIN").bytes;
    assert!(!Two::with(&copy, &text(b'Q', "SELECT 2").bytes, 1 << 20).is_shared());
}

/// A cancel request hits whatever the server is running when the request arrives.
#[test]
fn a_cancel_request_of_the_second_client_waits_for_its_turn() {
    let mut two = Two::sent();
    let cancels = |board: &mut Board| {
        std::iter::from_fn(|| board.next_action())
            .filter(|action| matches!(action, Action::Cancel(_)))
            .count()
    };
    cancels(&mut two.board);
    cancel(&mut two.board, two.second);
    assert_eq!(cancels(&mut two.board), 0, "it would hit the first client's query");
    two.server_says(&DONE);
    assert_eq!(cancels(&mut two.board), 1);
    two.server_says(&[CUT, (b'Z', b"I")]);
    two.board.cancel_delivered(two.server, true);
    assert_eq!(two.told(), ["CZ", "EZ"]);
}

/// The client leaves before its turn is the first one. Its cancel request would hit the next client.
#[test]
fn a_waiting_cancel_request_is_dropped_when_its_client_leaves() {
    let mut two = Two::sent();
    let third = two.board.client_accepted(false).expect("a client is welcome");
    let turn = [start_up(""), text(b'Q', "SELECT 3").bytes].concat();
    two.board.client_bytes(third, &turn, &mut NoDirectSend);
    cancel(&mut two.board, two.second);
    two.board.client_closed(two.second);
    let cancels = |board: &mut Board| {
        std::iter::from_fn(|| board.next_action())
            .filter(|action| matches!(action, Action::Cancel(_)))
            .count()
    };
    two.server_says(&DONE);
    assert_eq!(cancels(&mut two.board), 0, "it would hit the third client's query");
    two.server_says(&DONE);
    two.server_says(&DONE);
    assert!(tags(&two.board, third).ends_with("KZCZ"));
}

/// Sends a cancel request with the victim's key.
fn cancel(board: &mut Board, victim: ClientKey) {
    let mut welcome = board.client_unsent(victim).to_vec();
    let key = std::iter::from_fn(|| take(&mut welcome)).find(|message| message[0] == b'K').expect("a key");
    let request = [&[0, 0, 0, 16, 4, 210, 22, 46], &key[5..13]].concat();
    let asker = board.client_accepted(false).expect("a client is welcome");
    board.client_bytes(asker, &request, &mut NoDirectSend);
}

#[test]
fn a_slow_reader_does_not_delay_the_next_client() {
    let row = frame(b'D', &[b"\0\x01\0\0\x03\xe8", &[b'x'; 1_000][..]].concat()).bytes;
    for (buffered_bytes_max, cut_off) in [(1 << 20, false), (2_000, true)] {
        let mut two =
            Two::with(&text(b'Q', "SELECT 1").bytes, &text(b'Q', "SELECT 2").bytes, buffered_bytes_max);
        for _ in 0..5 {
            two.board.server_bytes(two.server, &row, &mut NoDirectSend);
            assert!(!two.board.server_paused(two.server), "the second waits for the first to read");
        }
        let there = two.board.clients().any(|(client, _)| client == two.first);
        assert_eq!(there, !cut_off);
        two.server_says(&[DONE[0], DONE[1], ROW, DONE[0], DONE[1]]);
        let [first, second] = two.told();
        assert_eq!(second, "DCZ");
        assert_eq!(first, if cut_off { "" } else { "DDDDDCZ" });
    }
}

/// Nobody let the server go on: its connection was kept until `abandoned_turn_timeout`.
#[test]
fn a_slow_reader_that_vanishes_is_waited_for_no_longer() {
    let row = frame(b'D', &[b"\0\x01\0\0\x03\xe8", &[b'x'; 1_000][..]].concat()).bytes;
    let mut two = Two::with(&text(b'Q', "SELECT 1").bytes, &text(b'Q', "SELECT 2").bytes, 1 << 20);
    two.board.client_bytes(two.second, &frame(b'X', b"").bytes, &mut NoDirectSend);
    for _ in 0..5 {
        two.board.server_bytes(two.server, &row, &mut NoDirectSend);
    }
    assert!(two.board.server_paused(two.server), "the first does not read");
    two.board.client_closed(two.first);
    assert!(!two.board.server_paused(two.server));
}

#[test]
fn the_other_client_is_answered_if_one_vanishes() {
    for second_too in [false, true] {
        let mut two = Two::sent();
        two.board.client_closed(two.first);
        if second_too {
            two.board.client_closed(two.second);
        }
        two.server_says(&[ROW, DONE[0], DONE[1], ROW, DONE[0], DONE[1]]);
        two.board.cancel_delivered(two.server, true);
        assert_eq!(two.told()[1], if second_too { "" } else { "DCZ" });
        assert!(!closes(&mut two.board, two.server));
    }
    // The second client vanishes, and the first still gets its answer.
    let mut two = Two::sent();
    two.board.client_closed(two.second);
    two.server_says(&[ROW, DONE[0], DONE[1], ROW, DONE[0], DONE[1]]);
    assert_eq!(two.told()[0], "DCZ");
    assert!(!closes(&mut two.board, two.server));
}

#[test]
fn both_clients_are_told_of_a_lost_server() {
    let mut two = Two::sent();
    two.server_says(&[ROW]);
    two.board.server_closed(two.server, "the server is gone");
    assert_eq!(two.told(), ["DEZ", "EZ"]);
}

/// The first turn has left a transaction open, although its text begins none. The second client's turn runs in it and
/// must not be committed.
#[test]
fn a_transaction_left_open_before_another_clients_turn_closes_the_connection() {
    let mut two = Two::sent();
    two.server_says(&[DONE[0], (b'Z', b"T")]);
    assert!(closes(&mut two.board, two.server));
    assert_eq!(two.told(), ["CEZ", "EZ"]);
}

#[test]
fn a_notification_goes_only_to_the_client_that_has_the_connection() {
    let mut two = Two::sent();
    let notification = (b'A', &b"\0\0\0\x01channel\0payload\0"[..]);
    two.server_says(&[notification, DONE[0], DONE[1], notification, DONE[0], DONE[1]]);
    assert_eq!(two.told(), ["CZ", "ACZ"]);
}
