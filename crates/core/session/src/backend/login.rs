//! The login of one client, from its first byte until it is known to be who it says.
//!
//! ```text
//!   FirstPacket --SSLRequest 'S'--> AwaitingTls --tls_started--> FirstPacket
//!       |   \--- SSLRequest 'N', GSSENCRequest 'N' ---> FirstPacket
//!       |   \--- CancelRequest ---> Over
//!   StartupMessage
//!       v
//!   Deciding --refuse--> Over
//!       |--challenge(Trust)--------------> Over (Verified was polled)
//!       `--challenge(..)--> Exchanging --> Over (Verified was polled), or LoginError
//! ```

use std::sync::Arc;

use trunkline_wire::backend::{ErrorReport, NegotiateProtocolVersion};
use trunkline_wire::frame;
use trunkline_wire::frontend::terminate;
use trunkline_wire::startup::{
    ENCRYPTION_REFUSED, FirstPacket, SSL_ACCEPTED, StartupError, StartupMessage, TLS_HANDSHAKE_BYTE,
};

use super::error::{LoginError, LoginFailure};
use super::password_exchange::{PasswordExchange, Step};
use super::settings::{LoginSettings, TlsOffer};
use super::startup_parameters::{PROTOCOL_NEWEST, StartupParameters};
use crate::authentication::scram::ScramKeys;
use crate::authentication::{Password, Secret};
use crate::entropy::Entropy;

/// How a client is to prove itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// Not at all.
    Trust,
    /// With its password as it is.
    Cleartext,
    /// With an MD5 sum; where the user's secret is SCRAM, and where there is no such user, with SCRAM, as in
    /// PostgreSQL.
    Md5,
    /// With SCRAM-SHA-256, or SCRAM-SHA-256-PLUS where there is a channel binding.
    Scram,
}

/// What to do next.
#[derive(Debug)]
pub enum LoginEvent {
    /// `S` is in the output buffer: flush it, have TLS established, then call [`Login::tls_started`]. Bytes read from
    /// now on belong to TLS.
    StartTls,
    /// The client began TLS without asking. As `StartTls`, but nothing was consumed: the bytes are TLS's. The protocol
    /// agreed on (ALPN) must be `postgresql`.
    DirectTls,
    /// The client wants a query of another connection cancelled. Close this one when that is done; no answer is due.
    Cancel {
        /// The process id of the connection.
        process_id: i32,
        /// The key that gives the right to.
        secret_key: Vec<u8>,
    },
    /// The client said who it is: call [`Login::challenge`] or [`Login::refuse`].
    Startup(Box<StartupParameters>),
    /// The client has proved itself: call [`welcome`](super::welcome()) (AuthenticationOk is not written yet).
    Verified(Box<Verified>),
}

/// What was learnt while the client proved itself, for logging in to a server in its name.
#[derive(Debug, Default)]
pub struct Verified {
    /// Keys, after SCRAM, or after a clear text password checked against a SCRAM secret.
    pub scram_keys: Option<ScramKeys>,
    /// The password, after a clear text password.
    pub password: Option<Password>,
}

/// See the module.
#[derive(Debug)]
pub struct Login {
    settings: Arc<LoginSettings>,
    state: State,
    event: Option<LoginEvent>,
    /// Set once TLS is up.
    tls: Option<Tls>,
    ssl_answered: bool,
    gss_answered: bool,
}

#[derive(Debug)]
struct Tls {
    /// `tls-server-end-point` data.
    binding: Option<Vec<u8>>,
}

#[derive(Debug)]
enum State {
    FirstPacket,
    AwaitingTls,
    Deciding { user: String },
    Exchanging(Box<PasswordExchange>),
    Over,
}

impl Login {
    /// A connection that was just accepted.
    pub fn new(settings: Arc<LoginSettings>) -> Self {
        Self {
            settings,
            state: State::FirstPacket,
            event: None,
            tls: None,
            ssl_answered: false,
            gss_answered: false,
        }
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Most bytes that may have to be gathered before [`Login::handle_bytes`] can consume any.
    pub fn input_bytes_max(&self) -> usize {
        let limits = &self.settings.limits;
        match &self.state {
            State::FirstPacket | State::AwaitingTls => limits.startup_packet_bytes as usize + 4,
            State::Deciding { .. } | State::Exchanging(_) => limits.auth_message_bytes as usize + 1,
            State::Over => 0,
        }
    }

    /// What to do next, until it gives `None`.
    pub fn poll(&mut self) -> Option<LoginEvent> {
        self.event.take()
    }

    /// Takes all the bytes received and not consumed yet, and returns how many of them are consumed now; answers are
    /// appended to `out`.
    ///
    /// Consumes up to the next event; call again after dealing with it, if bytes are left. What a client sends after
    /// its last message of the login is never consumed. 0 means that more bytes, or a command, must come first.
    pub fn handle_bytes(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginError> {
        let mut consumed = 0;
        while self.event.is_none() {
            let rest = input.get(consumed..).unwrap_or_default();
            let step = match &self.state {
                State::FirstPacket => self.first_packet(rest, out),
                State::Exchanging(_) => self.exchange(rest, out),
                State::AwaitingTls | State::Deciding { .. } | State::Over => Ok(0),
            };
            match step {
                Ok(0) => break,
                Ok(bytes) => consumed += bytes,
                Err(failure) => return Err(self.fail(failure, out)),
            }
        }
        Ok(consumed)
    }

    /// TLS is established, after [`LoginEvent::StartTls`] or [`LoginEvent::DirectTls`].
    ///
    /// `binding`: the `tls-server-end-point` data (RFC 5929: a hash of our certificate), with which
    /// SCRAM-SHA-256-PLUS is offered.
    pub fn tls_started(&mut self, binding: Option<Vec<u8>>) {
        debug_assert!(matches!(self.state, State::AwaitingTls), "TLS started unasked");
        self.tls = Some(Tls { binding });
        self.state = State::FirstPacket;
    }

    /// Asks for proof, after [`LoginEvent::Startup`].
    ///
    /// `stored`: what is stored for the user; `None` when there is no such user or no valid password, which the
    /// client cannot tell from a wrong password.
    pub fn challenge(
        &mut self,
        challenge: Challenge,
        stored: Option<Secret>,
        entropy: &mut dyn Entropy,
        out: &mut Vec<u8>,
    ) -> Result<(), LoginError> {
        let State::Deciding { user } = &mut self.state else {
            debug_assert!(false, "challenge without a Startup event");
            return Ok(());
        };
        let user = std::mem::take(user);
        if challenge == Challenge::Trust {
            self.verified(Verified::default());
            return Ok(());
        }
        if challenge == Challenge::Cleartext && self.tls.is_none() && !self.settings.cleartext_without_tls {
            return Err(self.fail(LoginFailure::CleartextNeedsTls, out));
        }
        let binding = self.tls.as_ref().and_then(|tls| tls.binding.clone());
        let exchange =
            PasswordExchange::begin(challenge, user, stored, &self.settings, binding, entropy, out);
        self.state = State::Exchanging(Box::new(exchange));
        Ok(())
    }

    /// Turns the client away, after [`LoginEvent::Startup`]; flush `out`, then close.
    pub fn refuse(&mut self, response: &ErrorReport<'_>, out: &mut Vec<u8>) {
        response.encode(out);
        self.state = State::Over;
    }

    fn verified(&mut self, verified: Verified) {
        self.state = State::Over;
        self.event = Some(LoginEvent::Verified(Box::new(verified)));
    }

    fn fail(&mut self, failure: LoginFailure, out: &mut Vec<u8>) -> LoginError {
        self.state = State::Over;
        if let Some(told) = failure.told() {
            told.encode(out);
        }
        LoginError { failure }
    }

    fn first_packet(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginFailure> {
        let nothing_said = self.tls.is_none() && !self.ssl_answered && !self.gss_answered;
        if nothing_said && input.first() == Some(&TLS_HANDSHAKE_BYTE) {
            if self.settings.tls == TlsOffer::Disabled {
                return Err(LoginFailure::TlsNotOffered);
            }
            self.state = State::AwaitingTls;
            self.event = Some(LoginEvent::DirectTls);
            return Ok(0);
        }
        // A client that thought better of it. As the length of a packet it would mean more than a gigabyte.
        if input.starts_with(&terminate::FRAME) {
            return Err(LoginFailure::Left);
        }
        if !input.is_empty() && terminate::FRAME.starts_with(input) {
            return Ok(0);
        }
        let Some(bytes) =
            self.settings.limits.first_packet_bytes(input).map_err(LoginFailure::FirstPacket)?
        else {
            return Ok(0);
        };
        let Some((packet, after)) = input.split_at_checked(bytes) else {
            return Ok(0);
        };
        let packet = FirstPacket::decode(packet).map_err(|error| match error {
            StartupError::UnsupportedVersion(version) => LoginFailure::UnsupportedVersion(version),
            error => LoginFailure::FirstPacket(error),
        })?;
        match packet {
            FirstPacket::Ssl => self.ssl_request(after, out)?,
            FirstPacket::GssEnc => self.gssenc_request(after, out)?,
            FirstPacket::Cancel(request) => {
                self.state = State::Over;
                let (process_id, secret_key) = (request.process_id, request.secret_key.to_vec());
                self.event = Some(LoginEvent::Cancel { process_id, secret_key });
            }
            FirstPacket::Startup(message) => self.startup(&message, out)?,
        }
        Ok(bytes)
    }

    fn ssl_request(&mut self, after: &[u8], out: &mut Vec<u8>) -> Result<(), LoginFailure> {
        let request = "SSLRequest";
        if self.ssl_answered || self.tls.is_some() {
            return Err(LoginFailure::RepeatedNegotiation { request });
        }
        if !after.is_empty() {
            return Err(LoginFailure::StuffedBytes { request });
        }
        self.ssl_answered = true;
        if self.settings.tls == TlsOffer::Disabled {
            out.push(ENCRYPTION_REFUSED);
        } else {
            out.push(SSL_ACCEPTED);
            self.state = State::AwaitingTls;
            self.event = Some(LoginEvent::StartTls);
        }
        Ok(())
    }

    fn gssenc_request(&mut self, after: &[u8], out: &mut Vec<u8>) -> Result<(), LoginFailure> {
        let request = "GSSENCRequest";
        if self.gss_answered || self.tls.is_some() {
            return Err(LoginFailure::RepeatedNegotiation { request });
        }
        if !after.is_empty() {
            return Err(LoginFailure::StuffedBytes { request });
        }
        self.gss_answered = true;
        out.push(ENCRYPTION_REFUSED);
        Ok(())
    }

    fn startup(&mut self, message: &StartupMessage<'_>, out: &mut Vec<u8>) -> Result<(), LoginFailure> {
        // First of all, so that a client that must use TLS learns nothing else without it.
        if self.settings.tls == TlsOffer::Required && self.tls.is_none() {
            return Err(LoginFailure::TlsRequired);
        }
        let parameters = StartupParameters::read(message)?;
        // As PostgreSQL 18: an older minor than the newest is spoken as asked for (3.1 never was a version of its own
        // and is 3.0 by another name), a newer one and unknown options are answered with what there is.
        let options: Vec<&[u8]> = message.protocol_options().map(|(name, _)| name).collect();
        if message.version > PROTOCOL_NEWEST || !options.is_empty() {
            NegotiateProtocolVersion::write(out, parameters.version, options);
        }
        self.state = State::Deciding { user: parameters.user.clone() };
        self.event = Some(LoginEvent::Startup(Box::new(parameters)));
        Ok(())
    }

    fn exchange(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginFailure> {
        let State::Exchanging(exchange) = &mut self.state else { return Ok(0) };
        let Some(header) = frame::header(input).map_err(LoginFailure::Frame)? else { return Ok(0) };
        exchange.check(header, &self.settings.limits)?;
        let bytes = header.frame_bytes();
        let Some(body) = input.get(frame::HEADER_BYTES..bytes) else { return Ok(0) };
        if let Step::Verified(verified) = exchange.password_message(body, out)? {
            self.verified(verified);
        }
        Ok(bytes)
    }
}
