//! The login of one client, from its first byte until its identity is proved.
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

/// How a client must prove its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// The client needs no proof.
    Trust,
    /// With its password in clear text.
    Cleartext,
    /// With an MD5 hash. As in PostgreSQL, SCRAM is used instead if the user's secret is a SCRAM secret or the user
    /// does not exist.
    Md5,
    /// With SCRAM-SHA-256, or with SCRAM-SHA-256-PLUS if channel binding is possible.
    Scram,
}

/// What the caller must do next.
#[derive(Debug)]
pub enum LoginEvent {
    /// `S` is in the output buffer: flush the buffer, establish TLS, then call [`Login::tls_started`]. Bytes that are
    /// read from now on belong to TLS.
    StartTls,
    /// The client began TLS without an SSLRequest. Do the same as for `StartTls`. No bytes were consumed: all of them
    /// belong to TLS. Client and listener must agree on the application protocol (ALPN) `postgresql`.
    DirectTls,
    /// The client asks to cancel the query of another connection. Do that, then close this connection without an
    /// answer.
    Cancel {
        /// The process id of the other connection.
        process_id: i32,
        /// The key that proves the right to cancel.
        secret_key: Vec<u8>,
    },
    /// The client has sent its start-up packet: call [`Login::challenge`] or [`Login::refuse`].
    Startup(Box<StartupParameters>),
    /// The client has proved its identity: call [`welcome`](super::welcome()), which also writes AuthenticationOk.
    Verified(Box<Verified>),
}

/// What the login has shown of the client's secrets. With it we can log in to a server as this client.
#[derive(Debug, Default)]
pub struct Verified {
    /// Keys: after SCRAM, or after a clear text password that was checked against a SCRAM secret.
    pub scram_keys: Option<ScramKeys>,
    /// The password, if the client sent it in clear text.
    pub password: Option<Password>,
}

/// The login of one client; see the module.
#[derive(Debug)]
pub struct Login {
    settings: Arc<LoginSettings>,
    state: State,
    event: Option<LoginEvent>,
    /// Set when TLS is established.
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
    /// The login on a connection that was just accepted.
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

    /// The highest number of bytes that the caller may have to collect before [`Login::handle_bytes`] consumes any.
    pub fn input_bytes_max(&self) -> usize {
        let limits = &self.settings.limits;
        match &self.state {
            State::FirstPacket | State::AwaitingTls => limits.startup_packet_bytes as usize + 4,
            State::Deciding { .. } | State::Exchanging(_) => limits.auth_message_bytes as usize + 1,
            State::Over => 0,
        }
    }

    /// What the caller must do next. Call this until it returns `None`.
    pub fn poll(&mut self) -> Option<LoginEvent> {
        self.event.take()
    }

    /// Handles bytes from the client. `input` is everything that was received and not consumed yet. Returns how many
    /// bytes are now consumed, and appends answers to `out`.
    ///
    /// Consumes bytes up to the next event. If bytes are left, handle the event and call this again. 0 means that more
    /// bytes or a command must come first. Bytes after the client's last login message are never consumed.
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

    /// Tells the login that TLS is established, after [`LoginEvent::StartTls`] or [`LoginEvent::DirectTls`].
    ///
    /// `binding` is the `tls-server-end-point` data (RFC 5929: a hash of our certificate). If it is given,
    /// SCRAM-SHA-256-PLUS is offered.
    pub fn tls_started(&mut self, binding: Option<Vec<u8>>) {
        debug_assert!(matches!(self.state, State::AwaitingTls), "TLS started without a request");
        self.tls = Some(Tls { binding });
        self.state = State::FirstPacket;
    }

    /// Asks the client for a proof, after [`LoginEvent::Startup`].
    ///
    /// `stored` is the user's stored secret. It is `None` if the user does not exist or has no valid password. The
    /// client cannot distinguish this from a wrong password.
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

    /// Refuses the client with an error, after [`LoginEvent::Startup`]. Then flush `out` and close the connection.
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
        if let Some(error) = failure.error_for_client() {
            error.encode(out);
        }
        LoginError { failure }
    }

    fn first_packet(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginFailure> {
        let at_first_byte = self.tls.is_none() && !self.ssl_answered && !self.gss_answered;
        if at_first_byte && input.first() == Some(&TLS_HANDSHAKE_BYTE) {
            if self.settings.tls == TlsOffer::Disabled {
                return Err(LoginFailure::TlsNotOffered);
            }
            self.state = State::AwaitingTls;
            self.event = Some(LoginEvent::DirectTls);
            return Ok(0);
        }
        // The client sent Terminate. As the length of a first packet these bytes would mean more than a gigabyte.
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
            return Err(LoginFailure::UnencryptedBytes { request });
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
            return Err(LoginFailure::UnencryptedBytes { request });
        }
        self.gss_answered = true;
        out.push(ENCRYPTION_REFUSED);
        Ok(())
    }

    fn startup(&mut self, message: &StartupMessage<'_>, out: &mut Vec<u8>) -> Result<(), LoginFailure> {
        // This check comes first, so that a client without TLS gets no other information.
        if self.settings.tls == TlsOffer::Required && self.tls.is_none() {
            return Err(LoginFailure::TlsRequired);
        }
        let parameters = StartupParameters::read(message)?;
        // As in PostgreSQL 18: a minor version up to the newest is accepted. (3.1 never existed; it means the same as
        // 3.0.) A newer version and unknown options are answered with NegotiateProtocolVersion.
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
