//! What clients that have not logged in can make the proxy do, store and reveal.

use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::PoolMode;
use trunkline_relay::board::NAMELESS;
use trunkline_relay::prepared::Registry;
use trunkline_relay::{Action, Board, Classes, ClientKey, Directory, ServerKey, Shared, UnprovenLookUps};

use crate::frames::{field, frame, take, text};
use crate::scenes::{NoDirectSend, answers, log_in, plain};
use crate::world::settings::Flavour;

const SECOND: u64 = 1_000_000;
/// A user that only a look-up can find.
const STRANGER: &str = "stranger";

/// A configuration that accepts every database name. Users are looked up, except `u` and `v`.
fn every_name() -> Directory {
    let flavour = Flavour { passwords: true, mode: PoolMode::Transaction, time_passes: true, ..plain() };
    let mut directory = flavour.directory(&flavour.edition());
    let mut database = directory.databases.remove("d").expect("it is there");
    Arc::get_mut(&mut database).expect("nobody else has it").name = "*".to_owned();
    directory.fallback = Some(database);
    directory.unknown_database_entry = None;
    directory.auth_cache_ttl = Duration::from_secs(10);
    directory
}

struct Scene {
    board: Board,
    shared: Arc<Shared>,
    now: u64,
    /// Connections that the board wants to open.
    dials: Vec<ServerKey>,
    /// Clients that the board has disconnected, with the last bytes that they got.
    closed: Vec<(ClientKey, Vec<u8>)>,
    warnings: Vec<String>,
}

impl Scene {
    fn of(directory: Directory) -> Self {
        let shared = Arc::new(Shared::new(1, Registry::new(1 << 16), Classes::new(1 << 16, 7)));
        let entropy = Box::new(|bytes: &mut [u8]| bytes.fill(7));
        let board = Board::new(0, Arc::clone(&shared), Arc::new(directory), entropy);
        Self { board, shared, now: 1, dials: Vec::new(), closed: Vec::new(), warnings: Vec::new() }
    }

    /// Lets time pass, so that the board handles timeouts.
    fn pass(&mut self, micros: u64) {
        self.now += micros;
        self.board.set_now(self.now);
        self.board.tick();
        self.carry_out();
    }

    fn carry_out(&mut self) {
        while let Some(action) = self.board.next_action() {
            match action {
                Action::Connect(server, _) => self.dials.push(server),
                Action::CloseClient(client, last) => self.closed.push((client, last)),
                Action::Note(trunkline_relay::Note::Warning(_, text)) => self.warnings.push(text),
                _ => {}
            }
        }
    }

    fn client(&mut self, user: &str, database: &str) -> ClientKey {
        self.client_with(user, database, b"")
    }

    fn client_with(&mut self, user: &str, database: &str, behind: &[u8]) -> ClientKey {
        let client = self.board.client_accepted(false).expect("a client is welcome");
        let body = format!("\0\x03\0\0user\0{user}\0database\0{database}\0\0");
        let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
        self.board.client_bytes(client, &[&length, body.as_bytes(), behind].concat(), &mut NoDirectSend);
        self.carry_out();
        client
    }

    fn password(&mut self, client: ClientKey, password: &str) {
        self.board.client_bytes(client, &text(b'p', password).bytes, &mut NoDirectSend);
        self.carry_out();
    }

    /// The server refuses the newest connection.
    fn refuse(&mut self, code: &str) {
        let server = self.dials.pop().expect("a connection was asked for");
        self.board.server_connected(server);
        let error = format!("SFATAL\0VFATAL\0C{code}\0Mdatabase at 10.0.0.5 does not exist\0\0");
        self.board.server_bytes(server, &frame(b'E', error.as_bytes()).bytes, &mut NoDirectSend);
        self.carry_out();
    }

    /// What a client got, with its last bytes.
    fn told(&self, client: ClientKey) -> Vec<u8> {
        let last = self.closed.iter().find(|(closed, _)| *closed == client).map(|(_, last)| last.clone());
        last.unwrap_or_else(|| self.board.client_unsent(client).to_vec())
    }

    fn told_code(&self, client: ClientKey) -> String {
        let mut told = self.told(client);
        std::iter::from_fn(|| take(&mut told)).last().map(|error| field(&error, b'C')).expect("an error")
    }
}

/// Makes a look-up on this server connection fail.
type Failure = fn(&mut Scene, ServerKey);

const PASSWORD_ASKED_FOR: &[u8] = b"R\0\0\0\x08\0\0\0\x03";

/// Each name causes at most one connection attempt, only a few at once and in a second, and leaves no pool and no metrics.
#[test]
fn invented_databases_leave_no_pools_and_metrics() {
    const NAMES: usize = 150;
    let mut directory = every_name();
    directory.unproven_look_ups = UnprovenLookUps { at_once: 4, per_second: 20 };
    let mut scene = Scene::of(directory);
    let clients: Vec<ClientKey> =
        (0..NAMES).map(|number| scene.client(STRANGER, &format!("made up {number}"))).collect();
    let (mut dialled, mut seconds) = (0, Vec::new());
    while dialled < NAMES {
        assert!(scene.dials.len() <= 4, "{} at once", scene.dials.len());
        seconds.extend(scene.dials.iter().map(|_| scene.now / SECOND));
        dialled += scene.dials.len();
        while !scene.dials.is_empty() {
            scene.refuse("3D000");
        }
        assert!(
            scene.board.pools().iter().all(|pool| pool.database == NAMELESS),
            "an invented name in metrics"
        );
        assert!(scene.shared.ledgers.len() <= 41, "{} pools", scene.shared.ledgers.len());
        scene.pass(SECOND / 10);
        assert!(scene.now < 60 * SECOND, "only {dialled} of them were looked up");
    }
    for second in 0..60 {
        let count = seconds.iter().filter(|at| **at == second).count();
        assert!(count <= 40, "{count} in second {second}");
    }
    for client in &clients {
        assert_eq!(scene.told(*client), PASSWORD_ASKED_FOR, "like any other client");
        scene.password(*client, "guess");
        assert_eq!(scene.told_code(*client), "28P01");
    }
    scene.pass(SECOND);
    scene.pass(20 * SECOND);
    assert_eq!((scene.shared.ledgers.len(), scene.shared.unproven_look_ups()), (0, 0));
    assert_eq!(scene.board.status().auth_cache_bytes, 0, "the cached answers are forgotten");
    assert!(scene.board.pools().iter().all(|pool| pool.database == NAMELESS));
    assert_eq!(scene.board.pools()[0].counters.open_failed, NAMES as u64, "the failures are counted");
}

/// Look-ups in one new database after another: new pools use the places of forgotten ones.
#[test]
fn forgotten_pools_give_their_places_back() {
    let mut scene = Scene::of(every_name());
    for number in 0..2_000 {
        let client = scene.client(STRANGER, &format!("made up {number}"));
        scene.refuse("3D000");
        scene.board.client_closed(client);
        scene.pass(SECOND);
        scene.pass(SECOND);
        assert_eq!(scene.shared.ledgers.len(), 0);
    }
}

/// After the first login to a database we know that it exists, and its look-ups need not wait.
#[test]
fn look_ups_in_a_database_that_exists_do_not_wait() {
    let mut directory = every_name();
    directory.unproven_look_ups = UnprovenLookUps { at_once: 1, per_second: 1 };
    let mut scene = Scene::of(directory);
    let first = scene.client(STRANGER, "there");
    let server = scene.dials.pop().expect("a connection is opened");
    log_in(&mut scene.board, server);
    let found = answers(&[(b'1', b""), (b'2', b""), (b'C', b"SELECT 0\0"), (b'3', b""), (b'Z', b"I")]);
    scene.board.server_bytes(server, &found, &mut NoDirectSend);
    assert_eq!(scene.told(first), PASSWORD_ASKED_FOR);
    let _waits = [scene.client(STRANGER, "made up"), scene.client(STRANGER, "made up too")];
    for user in ["x", "y", "z"] {
        let client = scene.client(user, "there");
        scene.board.server_bytes(server, &found, &mut NoDirectSend);
        assert_eq!(scene.told(client), PASSWORD_ASKED_FOR, "{user}");
    }
    assert!(scene.board.pools().iter().any(|pool| pool.database == "there"));
}

/// Unknown users, unknown databases and wrong passwords get exactly the same answers.
#[test]
fn without_a_password_nobody_learns_which_users_and_databases_exist() {
    let flavour = Flavour { passwords: true, mode: PoolMode::Transaction, ..plain() };
    let mut told = Vec::new();
    for (user, database) in [("u", "d"), ("u", "e"), ("q", "d"), ("q", "e")] {
        let mut scene = Scene::of(flavour.directory(&flavour.edition()));
        let client = scene.client(user, database);
        for server in std::mem::take(&mut scene.dials) {
            log_in(&mut scene.board, server);
            let nobody =
                answers(&[(b'1', b""), (b'2', b""), (b'C', b"SELECT 0\0"), (b'3', b""), (b'Z', b"I")]);
            scene.board.server_bytes(server, &nobody, &mut NoDirectSend);
        }
        let asked = scene.told(client);
        scene.password(client, "guess");
        let text = String::from_utf8_lossy(&scene.told(client)).replace(&format!("\"{user}\""), "?");
        told.push((asked, text));
    }
    for (at, of) in told.iter().enumerate() {
        assert_eq!(*of, told[0], "case {at}");
    }
    assert_eq!(told[0].0, PASSWORD_ASKED_FOR);
    assert!(told[0].1.contains("28P01"), "{}", told[0].1);
}

/// Only a client with the right password is told that the database does not exist.
#[test]
fn an_unknown_database_is_reported_after_the_login() {
    let flavour = Flavour { passwords: true, mode: PoolMode::Transaction, ..plain() };
    let mut scene = Scene::of(flavour.directory(&flavour.edition()));
    let client = scene.client("u", "e");
    scene.password(client, "secret of u");
    assert_eq!(scene.told_code(client), "3D000");
}

/// For whatever reason a look-up fails, the client gets one fixed answer, which says nothing about servers. The log has the
/// reason.
#[test]
fn all_failed_look_ups_get_the_same_answer() {
    let flavour = Flavour { passwords: true, mode: PoolMode::Transaction, time_passes: true, ..plain() };
    let failures: [(&str, Failure); 6] = [
        ("unreachable", |scene, server| {
            scene.board.server_closed(server, "cannot connect to 10.0.0.5:5432: refused");
        }),
        ("refused", |scene, server| {
            scene.dials.push(server);
            scene.refuse("3D000");
        }),
        ("starting up", |scene, server| {
            scene.dials.push(server);
            scene.refuse("57P03");
        }),
        ("query failed", |scene, server| {
            log_in(&mut scene.board, server);
            let error: (u8, &[u8]) =
                (b'E', b"SERROR\0VERROR\0C42P01\0Mrelation \"hidden\" does not exist\0\0");
            scene.board.server_bytes(server, &answers(&[error, (b'Z', b"I")]), &mut NoDirectSend);
        }),
        ("lost", |scene, server| {
            log_in(&mut scene.board, server);
            scene.board.server_closed(server, "the connection to 10.0.0.5 was lost");
        }),
        ("too slow", |scene, _| scene.pass(4 * SECOND)),
    ];
    let mut told = Vec::new();
    for (name, fail) in failures {
        let mut scene = Scene::of(flavour.directory(&flavour.edition()));
        let client = scene.client(STRANGER, "d");
        let server = scene.dials.pop().expect("a connection is opened");
        fail(&mut scene, server);
        scene.carry_out();
        assert!(!scene.warnings.is_empty(), "{name}: the log has no warning");
        assert_eq!(scene.told_code(client), "57P03", "{name}");
        told.push((name, scene.told(client)));
    }
    for (name, of) in &told {
        assert_eq!(*of, told[0].1, "{name}");
    }
}

/// For a database that only the client has named, the answer does not say whether it exists. It may say that the server
/// cannot be reached.
#[test]
fn an_invented_database_is_answered_like_an_unknown_user() {
    for code in ["3D000", "28000", "53300", "55000"] {
        let mut scene = Scene::of(every_name());
        let client = scene.client(STRANGER, "made up");
        scene.refuse(code);
        assert_eq!(scene.told(client), PASSWORD_ASKED_FOR, "{code}");
        // The second answer comes at once: the results for the user and for the database are cached.
        for user in [STRANGER, "another"] {
            let again = scene.client(user, "made up");
            assert_eq!(scene.told(again), PASSWORD_ASKED_FOR, "{code}");
            assert!(scene.dials.is_empty());
        }
    }
    let mut scene = Scene::of(every_name());
    let client = scene.client(STRANGER, "made up");
    let server = scene.dials.pop().expect("a connection is opened");
    scene.board.server_closed(server, "cannot connect to 10.0.0.5:5432: refused");
    scene.carry_out();
    assert_eq!(scene.told_code(client), "57P03");
}

/// A client that waits for a look-up has no more time to log in than others, and the board does not read from it.
#[test]
fn the_limits_of_a_login_hold_while_it_waits_for_a_look_up() {
    let mut directory = every_name();
    directory.unproven_look_ups = UnprovenLookUps { at_once: 1, per_second: 1 };
    let mut scene = Scene::of(directory);
    let much = vec![b'x'; 5_000];
    let clients = [0, 1, 2].map(|number| scene.client_with(STRANGER, &format!("made up {number}"), &much));
    assert_eq!(scene.dials.len(), 1);
    for client in clients {
        assert!(scene.board.client_paused(client), "the board would store more of its bytes");
    }
    scene.board.client_closed(clients[1]);
    scene.pass(3 * SECOND);
    assert_eq!(scene.dials.len(), 1, "one at once");
    scene.pass(8 * SECOND);
    for client in [clients[0], clients[2]] {
        assert_eq!(scene.told_code(client), "08006", "the login took too long");
    }
    assert_eq!(scene.shared.unproven_look_ups(), 0);
}

#[test]
fn a_terminate_after_the_start_up_message_is_no_failed_login() {
    for user in ["u", STRANGER] {
        let mut scene = Scene::of(every_name());
        let client = scene.client_with(user, "made up", b"X\0\0\0\x04");
        if user == STRANGER {
            scene.refuse("3D000");
        }
        assert_eq!(scene.told(client), PASSWORD_ASKED_FOR, "{user}");
        assert_eq!((scene.closed.len(), scene.board.status().logins_failed), (1, 0), "{user}");
    }
}

/// A pool without clients and connections is forgotten after a while. A pool that is in use, or that the configuration
/// names, is not.
#[test]
fn unused_pools_are_forgotten() {
    let flavour = Flavour { passwords: false, mode: PoolMode::Transaction, time_passes: true, ..plain() };
    let mut directory = flavour.directory(&flavour.edition());
    directory.fallback = directory.databases.get("d").cloned();
    directory.users.remove("v");
    let mut scene = Scene::of(directory);
    scene.board.set_now(scene.now);
    for (user, database) in [("u", "d"), ("u", "e"), ("u", "f")] {
        let client = scene.client(user, database);
        let server = scene.dials.pop().expect("a connection is opened");
        log_in(&mut scene.board, server);
        if database != "f" {
            scene.board.client_closed(client);
        }
        if database == "e" {
            scene.board.server_closed(server, "the server is gone");
        }
    }
    let names = |scene: &Scene| {
        let mut names: Vec<String> = scene.board.pools().into_iter().map(|pool| pool.database).collect();
        names.sort_unstable();
        names
    };
    scene.pass(14 * SECOND);
    assert_eq!(names(&scene), ["d", "e", "f"]);
    scene.pass(SECOND);
    assert_eq!(names(&scene), ["*", "d", "f"], "what it counted is kept, its name is not");
    // The server's connections expire too: the configured pool stays, and so does the one with a client.
    scene.pass(20 * SECOND);
    assert_eq!((names(&scene).join(" "), scene.shared.ledgers.len()), ("* d f".to_owned(), 2));
}

#[test]
fn the_number_of_pools_is_bounded() {
    let flavour = Flavour { passwords: false, mode: PoolMode::Transaction, ..plain() };
    let mut directory = flavour.directory(&flavour.edition());
    directory.fallback = directory.databases.get("d").cloned();
    directory.pools_max = std::num::NonZeroU32::new(2);
    let mut scene = Scene::of(directory);
    let enter = |scene: &mut Scene, database: &str| {
        let client = scene.client("u", database);
        let server = scene.dials.pop();
        server.into_iter().for_each(|server| log_in(&mut scene.board, server));
        (client, server)
    };
    let (first, of_first) = enter(&mut scene, "a");
    enter(&mut scene, "b");
    let (third, dialled) = enter(&mut scene, "c");
    assert_eq!((scene.told_code(third).as_str(), dialled), ("53300", None));
    assert_eq!(scene.shared.limits_hit().find(|(name, _)| *name == "pools_max"), Some(("pools_max", 1)));
    // An unused pool makes room.
    scene.board.client_closed(first);
    scene.board.server_closed(of_first.expect("it was opened"), "the server is gone");
    assert!(enter(&mut scene, "c").1.is_some());
    assert_eq!(scene.shared.ledgers.len(), 2);
}
