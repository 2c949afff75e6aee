//! Two peers and the bytes between them, handed over in pieces of any size.

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

/// A generator that repeats itself.
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

/// Few iterations: what is tested is the exchange, not the derivation.
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
    /// `tls-server-end-point` data, as the server sees it.
    pub(crate) server_binding: Option<Vec<u8>>,
    /// The same as the client sees it: different with someone in between.
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

/// A login that did not.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    pub(crate) client: Option<frontend::LoginError>,
    pub(crate) server: Option<backend::LoginError>,
}

/// Bytes on their way in one direction.
#[derive(Default)]
struct Way {
    sent: Vec<u8>,
    arrived: Vec<u8>,
    delivered: usize,
}

impl Way {
    /// Moves the next piece; a piece ends where `ends` says that one may.
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

    /// Both sides with TLS, and the same channel binding.
    pub(crate) fn over_tls(mut self) -> Self {
        self.settings.tls = TlsOffer::Required;
        self.login.tls = TlsWish::Require;
        self.server_binding = Some(b"hash of a certificate".to_vec());
        self.client_binding.clone_from(&self.server_binding);
        self
    }

    /// Each piece whole.
    pub(crate) fn run(&self) -> Result<LoggedIn, Failed> {
        self.run_in_pieces(&mut |_| false)
    }

    /// `ends`: whether a piece ends after this many bytes of its direction.
    pub(crate) fn run_in_pieces(&self, ends: &mut dyn FnMut(usize) -> bool) -> Result<LoggedIn, Failed> {
        Run::new(self).run(ends)
    }
}

struct Run<'a> {
    pair: &'a Pair,
    client: frontend::Login,
    server: backend::Login,
    up: Way,
    down: Way,
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
            up: Way::default(),
            down: Way::default(),
            startup: None,
            verified: None,
            ready: None,
            failed: Failed::default(),
        }
    }

    fn run(mut self, ends: &mut dyn FnMut(usize) -> bool) -> Result<LoggedIn, Failed> {
        self.failed.client = self.client.handle_connected(&mut self.up.sent).err();
        self.client_events();
        while self.up.deliver(ends) | self.down.deliver(ends) {
            self.server_turn();
            self.client_turn();
        }
        if self.failed.client.is_some() || self.failed.server.is_some() {
            return Err(self.failed);
        }
        assert!(self.up.arrived.is_empty() && self.down.arrived.is_empty(), "bytes are left over");
        Ok(LoggedIn {
            startup: self.startup.expect("no Startup"),
            verified: self.verified.expect("no Verified"),
            ready: self.ready.expect("no Ready"),
            encrypted: self.server.is_encrypted(),
        })
    }

    fn server_turn(&mut self) {
        if self.failed.server.is_some() {
            return;
        }
        match self.server.handle_bytes(&self.up.arrived, &mut self.down.sent) {
            Ok(consumed) => drop(self.up.arrived.drain(..consumed)),
            Err(error) => self.failed.server = Some(error),
        }
        while let Some(event) = self.server.poll() {
            self.server_event(event);
        }
    }

    fn server_event(&mut self, event: backend::LoginEvent) {
        match event {
            backend::LoginEvent::StartTls => {
                assert_eq!(self.down.sent, b"S");
                self.server.tls_started(self.pair.server_binding.clone());
            }
            backend::LoginEvent::DirectTls => {
                assert_eq!(self.up.arrived, [0x16]);
                self.up.arrived.clear();
                self.server.tls_started(self.pair.server_binding.clone());
            }
            backend::LoginEvent::Startup(parameters) => {
                self.startup = Some(*parameters);
                let mut entropy = entropy(self.pair.seed + 1);
                let (challenge, stored) = (self.pair.challenge, self.pair.stored.clone());
                self.failed.server =
                    self.server.challenge(challenge, stored, &mut entropy, &mut self.down.sent).err();
            }
            backend::LoginEvent::Verified(verified) => {
                self.verified = Some(*verified);
                let parameters: [(&[u8], &[u8]); 2] =
                    [(b"server_version", b"18.0"), (b"client_encoding", b"UTF8")];
                let status = TransactionStatus::Idle;
                welcome(&mut self.down.sent, parameters, PROCESS_ID, &SECRET_KEY, status);
            }
            backend::LoginEvent::Cancel { .. } => panic!("nobody cancels here"),
        }
    }

    fn client_turn(&mut self) {
        if self.failed.client.is_some() {
            return;
        }
        match self.client.handle_bytes(&self.down.arrived, &mut self.up.sent) {
            Ok(consumed) => drop(self.down.arrived.drain(..consumed)),
            Err(error) => self.failed.client = Some(error),
        }
        self.client_events();
    }

    fn client_events(&mut self) {
        while let Some(event) = self.client.poll() {
            match event {
                frontend::LoginEvent::StartTls => {
                    if self.pair.login.tls == TlsWish::Direct {
                        // The ClientHello: TLS itself is played by nobody here.
                        self.up.arrived.push(0x16);
                        self.server_turn();
                    }
                    let binding = self.pair.client_binding.clone();
                    self.failed.client = self.client.tls_started(binding, &mut self.up.sent).err();
                }
                frontend::LoginEvent::Ready(ready) => self.ready = Some(*ready),
            }
        }
    }
}
