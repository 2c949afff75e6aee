//! A client, a server and the bytes between them, which are delivered in pieces of any size.

use std::num::NonZeroU32;
use std::sync::Arc;

use trunkline_session::authentication::Secret;
use trunkline_session::backend::{
    self, Challenge, LoginSettings, StartupParameters, TlsOffer, Verified, welcome,
};
use trunkline_session::frontend::{self, Credential, ServerLogin, ServerReady, TlsWish};
use trunkline_wire::backend::TransactionStatus;

pub(crate) const MOCK_KEY: [u8; 32] = [42; 32];
pub(crate) const PROCESS_ID: i32 = 4711;
pub(crate) const SECRET_KEY: [u8; 4] = [1, 2, 3, 4];

/// A generator that gives the same bytes for the same seed.
pub(crate) fn entropy(seed: u64) -> impl FnMut(&mut [u8]) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |bytes| {
        for byte in bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = state.to_be_bytes()[0];
        }
    }
}

/// Settings with few iterations, because the tests are about the exchange and not about the derivation of keys.
pub(crate) fn settings() -> LoginSettings {
    let mut settings = LoginSettings::new(MOCK_KEY);
    settings.scram_iterations = NonZeroU32::MIN.saturating_add(1);
    settings
}

/// Both sides of a login.
pub(crate) struct Pair {
    pub(crate) settings: LoginSettings,
    pub(crate) login: ServerLogin,
    pub(crate) challenge: Challenge,
    pub(crate) stored: Option<Secret>,
    /// The `tls-server-end-point` data of the server.
    pub(crate) server_binding: Option<Vec<u8>>,
    /// The same data at the client. It differs if somebody sits in between.
    pub(crate) client_binding: Option<Vec<u8>>,
    pub(crate) seed: u64,
}

/// A login that succeeded on both sides.
#[derive(Debug)]
pub(crate) struct LoggedIn {
    pub(crate) startup: StartupParameters,
    pub(crate) verified: Verified,
    pub(crate) ready: ServerReady,
    pub(crate) encrypted: bool,
}

/// A login that failed on at least one side.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    pub(crate) client: Option<frontend::LoginError>,
    pub(crate) server: Option<backend::LoginError>,
}

/// The bytes of one direction.
#[derive(Default)]
struct OneWay {
    sent: Vec<u8>,
    arrived: Vec<u8>,
    delivered: usize,
}

impl OneWay {
    /// Delivers the next piece. A piece ends where `ends` returns true for the number of bytes so far.
    fn deliver(&mut self, ends: &mut dyn FnMut(usize) -> bool) -> bool {
        let mut bytes = 0;
        while bytes < self.sent.len() {
            bytes += 1;
            if ends(self.delivered + bytes) {
                break;
            }
        }
        self.delivered += bytes;
        self.arrived.extend(self.sent.drain(..bytes));
        bytes > 0
    }
}

impl Pair {
    pub(crate) fn new(challenge: Challenge, stored: Option<Secret>, credential: Credential) -> Self {
        let mut login = ServerLogin::new("alice", "shop");
        login.credential = credential;
        let settings = settings();
        Self { settings, login, challenge, stored, server_binding: None, client_binding: None, seed: 1 }
    }

    /// Gives both sides TLS and the same channel binding data.
    pub(crate) fn over_tls(mut self) -> Self {
        self.settings.tls = TlsOffer::Required;
        self.login.tls = TlsWish::Require;
        self.server_binding = Some(b"hash of a certificate".to_vec());
        self.client_binding.clone_from(&self.server_binding);
        self
    }

    /// Runs the login. Everything that was sent is delivered in one piece.
    pub(crate) fn run(&self) -> Result<LoggedIn, Failed> {
        self.run_in_pieces(&mut |_| false)
    }

    /// Runs the login. `ends` says whether a piece ends after this many bytes of its direction.
    pub(crate) fn run_in_pieces(&self, ends: &mut dyn FnMut(usize) -> bool) -> Result<LoggedIn, Failed> {
        Run::new(self).run(ends)
    }
}

struct Run<'a> {
    pair: &'a Pair,
    client: frontend::Login,
    server: backend::Login,
    to_server: OneWay,
    to_client: OneWay,
    startup: Option<StartupParameters>,
    verified: Option<Verified>,
    ready: Option<ServerReady>,
    failed: Failed,
}

impl<'a> Run<'a> {
    fn new(pair: &'a Pair) -> Self {
        Self {
            pair,
            client: frontend::Login::new(Arc::new(pair.login.clone()), &mut entropy(pair.seed)),
            server: backend::Login::new(Arc::new(pair.settings.clone())),
            to_server: OneWay::default(),
            to_client: OneWay::default(),
            startup: None,
            verified: None,
            ready: None,
            failed: Failed::default(),
        }
    }

    fn run(mut self, ends: &mut dyn FnMut(usize) -> bool) -> Result<LoggedIn, Failed> {
        self.failed.client = self.client.handle_connected(&mut self.to_server.sent).err();
        self.client_events();
        while self.to_server.deliver(ends) | self.to_client.deliver(ends) {
            self.server_step();
            self.client_step();
        }
        if self.failed.client.is_some() || self.failed.server.is_some() {
            return Err(self.failed);
        }
        assert!(
            self.to_server.arrived.is_empty() && self.to_client.arrived.is_empty(),
            "bytes are left over"
        );
        Ok(LoggedIn {
            startup: self.startup.expect("no Startup"),
            verified: self.verified.expect("no Verified"),
            ready: self.ready.expect("no Ready"),
            encrypted: self.server.is_encrypted(),
        })
    }

    fn server_step(&mut self) {
        if self.failed.server.is_some() {
            return;
        }
        match self.server.handle_bytes(&self.to_server.arrived, &mut self.to_client.sent) {
            Ok(consumed) => drop(self.to_server.arrived.drain(..consumed)),
            Err(error) => self.failed.server = Some(error),
        }
        while let Some(event) = self.server.poll() {
            self.server_event(event);
        }
    }

    fn server_event(&mut self, event: backend::LoginEvent) {
        match event {
            backend::LoginEvent::StartTls => {
                assert_eq!(self.to_client.sent, b"S");
                self.server.tls_started(self.pair.server_binding.clone());
            }
            backend::LoginEvent::DirectTls => {
                assert_eq!(self.to_server.arrived, [0x16]);
                self.to_server.arrived.clear();
                self.server.tls_started(self.pair.server_binding.clone());
            }
            backend::LoginEvent::Startup(parameters) => {
                self.startup = Some(*parameters);
                let mut entropy = entropy(self.pair.seed + 1);
                let (challenge, stored) = (self.pair.challenge, self.pair.stored.clone());
                self.failed.server =
                    self.server.challenge(challenge, stored, &mut entropy, &mut self.to_client.sent).err();
            }
            backend::LoginEvent::Verified(verified) => {
                self.verified = Some(*verified);
                let parameters: [(&[u8], &[u8]); 2] =
                    [(b"server_version", b"18.0"), (b"client_encoding", b"UTF8")];
                let status = TransactionStatus::Idle;
                welcome(&mut self.to_client.sent, parameters, PROCESS_ID, &SECRET_KEY, status);
            }
            backend::LoginEvent::Cancel { .. } => panic!("this test sends no CancelRequest"),
        }
    }

    fn client_step(&mut self) {
        if self.failed.client.is_some() {
            return;
        }
        match self.client.handle_bytes(&self.to_client.arrived, &mut self.to_server.sent) {
            Ok(consumed) => drop(self.to_client.arrived.drain(..consumed)),
            Err(error) => self.failed.client = Some(error),
        }
        self.client_events();
    }

    fn client_events(&mut self) {
        while let Some(event) = self.client.poll() {
            match event {
                frontend::LoginEvent::StartTls => {
                    if self.pair.login.tls == TlsWish::Direct {
                        // This byte stands for the ClientHello. There is no real TLS in this test.
                        self.to_server.arrived.push(0x16);
                        self.server_step();
                    }
                    let binding = self.pair.client_binding.clone();
                    self.failed.client = self.client.tls_started(binding, &mut self.to_server.sent).err();
                }
                frontend::LoginEvent::Ready(ready) => self.ready = Some(*ready),
            }
        }
    }
}
