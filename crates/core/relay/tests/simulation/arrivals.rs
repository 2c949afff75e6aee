//! Scenes of many who come at once: counted, not timed.

use trunkline_pool::PoolMode;
use trunkline_relay::board::{
    ACCEPTS_MAX, ARRIVALS_MICROS_MAX, CLIENTS_BEFORE_NEXT_WORKER, LOGIN_STEPS_MAX, LOGINS_WAITING_MAX,
    ROUNDS_WITHOUT_ARRIVALS_MAX,
};
use trunkline_relay::{Board, ClientKey};

use crate::frames::text;
use crate::scenes::{boards, lent};

const STEPS: usize = LOGIN_STEPS_MAX as usize;

/// A board with a client that is in, and `count` that are logging in and have sent something.
fn storm(count: usize) -> (Board, ClientKey, Vec<ClientKey>) {
    let [board] = boards(PoolMode::Transaction);
    let (mut board, inside, _) = lent(board, "", &text(b'Q', "SELECT 1").bytes);
    let strangers: Vec<ClientKey> =
        (0..count).map(|_| board.client_accepted(false).expect("a client is welcome")).collect();
    for stranger in &strangers {
        assert!(!board.client_ready(*stranger), "a login is read before its turn");
    }
    (board, inside, strangers)
}

/// Those whom a round that begins at `now` lets go on, each taking `micros`.
fn round(board: &mut Board, mut now: u64, micros: u64) -> Vec<ClientKey> {
    assert!(board.begin_arrivals(now, false));
    let mut taken = Vec::new();
    while let Some(key) = board.next_login(now) {
        taken.push(key);
        now += micros;
    }
    taken
}

/// Clients that were in waited 370 ms in the median while 2,000 logged in.
#[test]
fn logins_have_a_share_of_a_round_and_those_who_are_in_go_first() {
    let (mut board, inside, strangers) = storm(2000);
    for turn in strangers.chunks(STEPS) {
        assert!(board.client_ready(inside), "who is in waits for nobody's login");
        assert_eq!(round(&mut board, 1000, 0), turn, "first come, first served");
    }
    assert_eq!(board.logins_waiting(), 0);
    assert_eq!(round(&mut board, 1000, 0), []);
}

#[test]
fn slow_logins_take_no_longer_than_their_share() {
    let (mut board, _, strangers) = storm(20);
    // A password's keys are derived for longer than the share: one is finished, no other begun.
    assert_eq!(round(&mut board, 1000, ARRIVALS_MICROS_MAX), strangers[..1]);
    assert_eq!(round(&mut board, 9000, ARRIVALS_MICROS_MAX / 2), strangers[1..3]);
}

#[test]
fn a_login_stands_in_line_once_and_who_has_left_takes_no_step() {
    let (mut board, _, strangers) = storm(2 * STEPS);
    for stranger in &strangers {
        assert!(!board.client_ready(*stranger));
    }
    assert_eq!(board.logins_waiting(), 2 * STEPS);
    for gone in &strangers[..STEPS] {
        board.client_closed(*gone);
    }
    assert_eq!(round(&mut board, 1000, 0), strangers[STEPS..]);
    // A client that was given a step may get in line again.
    assert!(!board.client_ready(strangers[STEPS]));
    assert_eq!(round(&mut board, 1000, 0), [strangers[STEPS]]);
}

/// What those who are in have sent may be among the events that the kernel still has.
#[test]
fn the_kernels_other_events_come_before_logins_but_not_for_ever() {
    let (mut board, _, strangers) = storm(1);
    for _ in 0..ROUNDS_WITHOUT_ARRIVALS_MAX {
        assert!(!board.begin_arrivals(1000, true));
    }
    assert!(board.begin_arrivals(1000, true));
    assert_eq!(board.next_login(1000), Some(strangers[0]));
}

#[test]
fn accept_is_held_back_while_logins_wait() {
    let accepts = |board: &mut Board| {
        assert!(board.begin_arrivals(1000, false));
        std::iter::from_fn(|| board.may_accept(1000).then_some(())).take(1000).count()
    };
    let (mut board, ..) = storm(LOGINS_WAITING_MAX - 1);
    assert_eq!(accepts(&mut board), ACCEPTS_MAX as usize);
    let (mut board, ..) = storm(LOGINS_WAITING_MAX);
    assert_eq!(accepts(&mut board), 1, "one, so that logins that go on for ever keep nobody out");
    // The logins of this round took its time.
    let (mut board, ..) = storm(1);
    assert!(board.begin_arrivals(1000, false));
    assert!(board.may_accept(1000 + ARRIVALS_MICROS_MAX));
    assert!(!board.may_accept(1000 + ARRIVALS_MICROS_MAX));
}

/// With two workers, ten clients cost more than with one: each worker woke for one message at a time.
#[test]
fn few_clients_sit_with_one_worker() {
    let [mut first, mut second] = boards(PoolMode::Transaction);
    let mut first_clients = Vec::new();
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        // Accepted by the other one: on the way it counts already.
        assert_eq!(second.assign_worker(), 0);
    }
    assert_eq!(second.assign_worker(), 1, "the first worker has enough");
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        first.end_assignment(0);
        first_clients.push(first.client_accepted(false).expect("a client is welcome"));
    }
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        assert_eq!(first.assign_worker(), 1, "then the second is woken");
    }
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        second.end_assignment(1);
        second.client_accepted(false).expect("a client is welcome");
    }
    // Beyond that each keeps whom the kernel gives it.
    assert_eq!((first.assign_worker(), second.assign_worker()), (0, 1));
    first.client_closed(first_clients[0]);
    assert_eq!(second.assign_worker(), 0, "a place with the first is free");
}
