//! Scenes in which many clients connect at once. They count steps and measure no time.

use trunkline_pool::PoolMode;
use trunkline_relay::board::{
    ACCEPTS_MAX, ARRIVALS_MICROS_MAX, CLIENTS_BEFORE_NEXT_WORKER, LOGIN_STEPS_MAX, LOGINS_WAITING_MAX,
    ROUNDS_WITHOUT_ARRIVALS_MAX,
};
use trunkline_relay::{Board, ClientKey};

use crate::frames::text;
use crate::scenes::{boards, lent};

const STEPS: usize = LOGIN_STEPS_MAX as usize;

/// A board with one client that is logged in, and `count` clients that are logging in and have sent bytes.
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

/// The clients whose logins a round continues that begins at `now`. Each step takes `micros`.
fn round(board: &mut Board, mut now: u64, micros: u64) -> Vec<ClientKey> {
    assert!(board.begin_arrivals(now, false));
    let mut taken = Vec::new();
    while let Some(key) = board.next_login(now) {
        taken.push(key);
        now += micros;
    }
    taken
}

/// Before logins had a limited share, clients that were logged in waited 370 ms in the median while 2,000 others logged in.
#[test]
fn logins_get_a_limited_share_of_a_round_after_logged_in_clients() {
    let (mut board, inside, strangers) = storm(2000);
    for turn in strangers.chunks(STEPS) {
        assert!(board.client_ready(inside), "a client that is logged in waits for no login");
        assert_eq!(round(&mut board, 1000, 0), turn, "first come, first served");
    }
    assert_eq!(board.logins_waiting(), 0);
    assert_eq!(round(&mut board, 1000, 0), []);
}

#[test]
fn slow_logins_take_no_longer_than_their_share() {
    let (mut board, _, strangers) = storm(20);
    // To derive a password's keys takes longer than the share: one login finishes, and no other begins.
    assert_eq!(round(&mut board, 1000, ARRIVALS_MICROS_MAX), strangers[..1]);
    assert_eq!(round(&mut board, 9000, ARRIVALS_MICROS_MAX / 2), strangers[1..3]);
}

#[test]
fn a_login_waits_in_line_once_and_a_closed_client_takes_no_step() {
    let (mut board, _, strangers) = storm(2 * STEPS);
    for stranger in &strangers {
        assert!(!board.client_ready(*stranger));
    }
    assert_eq!(board.logins_waiting(), 2 * STEPS);
    for gone in &strangers[..STEPS] {
        board.client_closed(*gone);
    }
    assert_eq!(round(&mut board, 1000, 0), strangers[STEPS..]);
    // A client that has had its step may wait in line again.
    assert!(!board.client_ready(strangers[STEPS]));
    assert_eq!(round(&mut board, 1000, 0), [strangers[STEPS]]);
}

/// The events that the kernel still has may include messages of clients that are logged in.
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
    assert_eq!(accepts(&mut board), 1, "one, so that endless logins do not keep new clients out");
    // The logins have used up the time of this round.
    let (mut board, ..) = storm(1);
    assert!(board.begin_arrivals(1000, false));
    assert!(board.may_accept(1000 + ARRIVALS_MICROS_MAX));
    assert!(!board.may_accept(1000 + ARRIVALS_MICROS_MAX));
}

/// Ten clients cost more on two workers than on one, because each worker woke up for a single message.
#[test]
fn few_clients_share_one_worker() {
    let [mut first, mut second] = boards(PoolMode::Transaction);
    let mut first_clients = Vec::new();
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        // The second worker accepts it. It counts for the first worker before it gets there.
        assert_eq!(second.assign_worker(), 0);
    }
    assert_eq!(second.assign_worker(), 1, "the first worker has enough");
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        first.end_assignment(0);
        first_clients.push(first.client_accepted(false).expect("a client is welcome"));
    }
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        assert_eq!(first.assign_worker(), 1, "then the second worker takes clients");
    }
    for _ in 0..CLIENTS_BEFORE_NEXT_WORKER {
        second.end_assignment(1);
        second.client_accepted(false).expect("a client is welcome");
    }
    // When both have enough, each keeps the clients that the kernel gives it.
    assert_eq!((first.assign_worker(), second.assign_worker()), (0, 1));
    first.client_closed(first_clients[0]);
    assert_eq!(second.assign_worker(), 0, "the first worker has room again");
}
