//! A board with one client and one pool with its server, and with sockets that accept all bytes or none.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::{Capacity, PoolMode, PoolSettings};
use trunkline_relay::prepared::Registry;
use trunkline_relay::{
    Action, Board, Classes, ClientKey, Database, DirectSend, Directory, Note, ServerKey, Shared, Target,
    Timeouts, TurnLimits, UnprovenLookUps, User,
};
use trunkline_session::backend::{Challenge, LoginSettings};
use trunkline_session::frontend::TlsWish;

/// These limits are small, so that short inputs reach them.
pub const STATEMENT_BYTES: usize = 256;
pub const BUFFER_BYTES: usize = 512;
/// By how much a message may grow on its way to the server. At worst, the shortest Bind causes the Parse of its statement and the
/// Close of another.
const GROWTH: usize = 64;
/// Bytes of answers and errors that the board itself makes.
const OWN_BYTES: usize = 4096;

/// StartupMessage of user `u`, database `d`.
const STARTUP: &[u8] = b"\0\0\0\x1b\0\x03\0\0user\0u\0database\0d\0\0";
/// AuthenticationOk, a ParameterStatus, BackendKeyData, ReadyForQuery.
const WELCOME: &[u8] =
    b"R\0\0\0\x08\0\0\0\0S\0\0\0\x19client_encoding\0UTF8\0K\0\0\0\x0c\0\0\0\x07\0\0\0\x09Z\0\0\0\x05I";

/// The sockets.
#[derive(Default)]
pub struct Sockets {
    pub client_takes: bool,
    pub server_takes: bool,
    /// Bytes that were sent to the server.
    pub to_server: Vec<u8>,
    /// Bytes that were sent to the client.
    pub to_client: Vec<u8>,
}

impl DirectSend for Sockets {
    fn send_client(&mut self, _: ClientKey, bytes: &[u8]) -> usize {
        if self.client_takes {
            self.to_client.extend_from_slice(bytes);
        }
        bytes.len() * usize::from(self.client_takes)
    }

    fn send_server(&mut self, _: ServerKey, bytes: &[u8]) -> usize {
        if self.server_takes {
            self.to_server.extend_from_slice(bytes);
        }
        bytes.len() * usize::from(self.server_takes)
    }
}

pub struct Desk {
    pub board: Board,
    pub sockets: Sockets,
    pub client: Option<ClientKey>,
    pub server: Option<ServerKey>,
    /// How many server connections were opened.
    pub dialled: usize,
    /// The board has said that a server broke the protocol.
    pub server_accused: bool,
    /// How many bytes of the input were used so far.
    input_bytes: usize,
}

impl Desk {
    /// A board with a client and a server connection that are both logged in.
    pub fn new(settings: u8) -> Self {
        let shared = Arc::new(Shared::new(1, Registry::new(1 << 12), Classes::new(1 << 12, 7)));
        let entropy = |bytes: &mut [u8]| bytes.fill(5);
        let board = Board::new(0, shared, Arc::new(directory(settings)), Box::new(entropy));
        let sockets = Sockets { client_takes: true, server_takes: true, ..Sockets::default() };
        let mut desk = Self {
            board,
            sockets,
            client: None,
            server: None,
            dialled: 0,
            server_accused: false,
            input_bytes: 0,
        };
        let client = desk.board.client_accepted(false).expect("a client is welcome");
        desk.client = Some(client);
        desk.board.client_bytes(client, STARTUP, &mut desk.sockets);
        desk.carry_out();
        // In session mode a client gets a server connection at its login; in other modes the first client makes its pool open one.
        assert!(desk.sockets.to_client.ends_with(b"Z\0\0\0\x05I"), "the client has not been welcomed");
        desk
    }

    /// Performs the board's actions, as a worker does after each event.
    pub fn carry_out(&mut self) {
        loop {
            let mut idle = true;
            while let Some(action) = self.board.next_action() {
                idle = false;
                self.act(action);
            }
            while let Some(key) = self.board.next_unsent_server() {
                idle = false;
                let unsent = self.board.server_unsent(key);
                let sent = self.sockets.send_server(key, unsent);
                self.board.server_sent(key, sent);
            }
            while let Some(key) = self.board.next_unsent_client() {
                idle = false;
                let unsent = self.board.client_unsent(key);
                let sent = self.sockets.send_client(key, unsent);
                self.board.client_sent(key, sent);
            }
            if idle && !self.board.is_round_due() {
                return;
            }
            self.board.next_round();
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Connect(key, _) => {
                self.dialled += 1;
                self.sockets.to_server.clear();
                self.server = Some(key);
                self.board.server_connected(key);
                self.board.server_bytes(key, WELCOME, &mut self.sockets);
                // No target checks the StartupMessage.
                let sent = self.board.server_unsent(key).len();
                self.board.server_sent(key, sent);
                self.sockets.to_server.clear();
            }
            Action::CloseClient(key, _) => {
                assert_eq!(self.client, Some(key));
                self.client = None;
            }
            Action::CloseServer(key, _) => {
                if self.server == Some(key) {
                    self.server = None;
                }
            }
            Action::Note(Note::Warning(_, text)) => {
                self.server_accused |= text.contains("broke the protocol")
            }
            Action::Cancel(ticket) => self.board.cancel_delivered(ticket.server, true),
            Action::Note(_) | Action::ResumeClient(_) | Action::ResumeServer(_) => {}
            Action::Mail(..) | Action::Handoff(..) => panic!("there is no other worker"),
            Action::ClientTls(_) | Action::ServerTls(..) => panic!("nobody asked for TLS"),
        }
    }

    /// The client sends a piece. False if the board does not read from it now, or it is gone.
    pub fn client_sends(&mut self, piece: &[u8]) -> bool {
        let Some(client) = self.client else { return false };
        if self.board.client_paused(client) {
            return false;
        }
        self.input_bytes += piece.len();
        self.board.client_bytes(client, piece, &mut self.sockets);
        self.carry_out();
        self.check(piece.len());
        true
    }

    /// The server sends a piece. False if the board does not read from it now, or it is gone.
    pub fn server_sends(&mut self, piece: &[u8]) -> bool {
        let Some(server) = self.server else { return false };
        if self.board.server_paused(server) {
            return false;
        }
        self.input_bytes += piece.len();
        self.board.server_bytes(server, piece, &mut self.sockets);
        self.carry_out();
        self.check(piece.len());
        true
    }

    /// The bytes that the board holds stay within the limits and the size of the input.
    fn check(&self, piece: usize) {
        for (key, client) in self.board.clients() {
            let (inbox, outbox) = client.waiting_bytes();
            assert!(inbox <= STATEMENT_BYTES + BUFFER_BYTES + piece, "{key:?} has {inbox} bytes waiting");
            let most = BUFFER_BYTES + self.input_bytes + OWN_BYTES;
            assert!(outbox <= most, "{key:?} has {outbox} bytes unsent of {most}");
            assert!(client.statement_count() <= self.input_bytes);
        }
        for (key, server) in self.board.servers() {
            let (inbox, outbox) = server.waiting_bytes();
            assert!(inbox <= self.input_bytes, "{key:?} has {inbox} bytes waiting of {}", self.input_bytes);
            let waited = STATEMENT_BYTES + BUFFER_BYTES + piece;
            let most = BUFFER_BYTES + waited * GROWTH + OWN_BYTES;
            assert!(outbox <= most, "{key:?} has {outbox} bytes unsent of {most}");
            // The shortest message has five bytes, and causes at most one Close and one Parse of ours.
            let answers = server.awaited_answers();
            assert!(answers <= self.input_bytes + 8, "{key:?} awaits {answers} answers");
        }
    }
}

fn limits(prepared_max: usize) -> TurnLimits {
    TurnLimits {
        prepared_max,
        statement_bytes_max: STATEMENT_BYTES,
        statement_lifetime: 5_000,
        client_statements_max: 4,
        client_statements_bytes_max: 4_096,
        message_bytes_max: 1 << 20,
        replay_bytes_max: 128,
        outstanding_turns_max: 8,
        round_messages_max: 3,
        lent_turns_max: 2,
        round_parse_bytes_max: 64,
        classified_text_bytes_max: 512,
        client_buffer_bytes: BUFFER_BYTES,
        server_buffer_bytes: BUFFER_BYTES,
    }
}

fn directory(settings: u8) -> Directory {
    let target =
        Target { host: "server".into(), port: 5432, tls: TlsWish::Never, second_try: None, tls_profile: 0 };
    let mode = match settings & 3 {
        0 => PoolMode::Session,
        1 => PoolMode::Statement,
        _ => PoolMode::Transaction,
    };
    let pool = PoolSettings { mode, size: 1, ..PoolSettings::default() };
    let database = Database {
        name: "d".into(),
        server_name: None,
        target: Arc::new(target),
        forced_user: None,
        password: None,
        pool,
        capacity: Capacity::default(),
        connect_query: None,
        parameters: Vec::new(),
        auth_query: None,
    };
    let login = Arc::new(LoginSettings::new([7; 32]));
    Directory {
        epoch: 1,
        databases: HashMap::from([("d".into(), Arc::new(database))]),
        fallback: None,
        users: HashMap::from([("u".into(), User::default())]),
        other_users: Capacity::default(),
        challenge: Challenge::Trust,
        any_user: false,
        login_tcp: Arc::clone(&login),
        login_unix: login,
        scram_iterations_max: 10,
        ignored_parameters: Vec::new(),
        limits: limits(if settings & 4 == 0 { 2 } else { 0 }),
        early_release: None,
        clients_max: None,
        unauthenticated_max: None,
        cancels_max: 2,
        timeouts: Timeouts::default(),
        reset_query: "DISCARD ALL".into(),
        reset_always: false,
        check_query: String::new(),
        auth_cache_ttl: Duration::ZERO,
        auth_cache_bytes_max: 1 << 16,
        unknown_database_entry: None,
        unproven_look_ups: UnprovenLookUps::default(),
        pools_max: 0,
    }
}
