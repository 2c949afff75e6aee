//! Our login to one server, from the new connection until ReadyForQuery.
//!
//! ```text
//!   New --handle_connected--> AwaitingSslAnswer --'S'--> AwaitingTls --tls_started--> Authenticating
//!    |                              `--------------------'N' (Prefer)------------------^
//!    `--(TlsWish::Never)----------------------------------------------------------------^
//!   Authenticating --AuthenticationOk--> AwaitingReady --ReadyForQuery--> Over (Ready was polled)
//! ```

use std::sync::Arc;

use trunkline_wire::backend::{
    Authentication, BackendKeyData, NegotiateProtocolVersion, NoticeResponse, ParameterStatus, ReadyForQuery,
    authentication, backend_key_data, error_response, negotiate_protocol_version, notice_response,
    parameter_status, ready_for_query,
};
use trunkline_wire::frame;
use trunkline_wire::startup::{
    ENCRYPTION_REFUSED, ProtocolVersion, SSL_ACCEPTED, SSL_REQUEST, StartupMessage,
};

use super::error::{LoginError, Misbehaviour, Refusal};
use super::proof::Exchange;
use super::ready::ServerReady;
use super::settings::{ServerLogin, TlsWish};
use crate::authentication::scram::client::{Channel, nonce};
use crate::entropy::Entropy;

/// What the caller must do next.
#[derive(Debug)]
pub enum LoginEvent {
    /// Establish TLS, then call [`Login::tls_started`]. Every byte that is received from now on belongs to TLS.
    StartTls,
    /// The login has succeeded. Bytes after ReadyForQuery are not consumed.
    Ready(Box<ServerReady>),
}

/// Our login to one server; see the module.
#[derive(Debug)]
pub struct Login {
    login: Arc<ServerLogin>,
    scram_nonce: String,
    state: State,
    event: Option<LoginEvent>,
}

#[derive(Debug)]
enum State {
    New,
    AwaitingSslAnswer,
    AwaitingTls,
    Authenticating { exchange: Exchange, version: ProtocolVersion },
    AwaitingReady(Box<ServerReady>),
    Over,
}

impl Login {
    /// A login on a connection that is not established yet. `entropy` gives the nonce that SCRAM may need.
    pub fn new(login: Arc<ServerLogin>, entropy: &mut dyn Entropy) -> Self {
        Self { login, scram_nonce: nonce(entropy), state: State::New, event: None }
    }

    /// What the caller must do next. Call this until it returns `None`.
    pub fn poll(&mut self) -> Option<LoginEvent> {
        self.event.take()
    }

    /// The highest number of bytes that the caller may have to collect before [`Login::handle_bytes`] consumes any.
    pub fn input_bytes_max(&self) -> usize {
        let limits = &self.login.limits;
        limits.server_auth_message_bytes.max(limits.server_small_message_bytes) as usize + 1
    }

    /// Tells the login that the connection is established. Appends our first bytes to `out`.
    pub fn handle_connected(&mut self, out: &mut Vec<u8>) -> Result<(), LoginError> {
        debug_assert!(matches!(self.state, State::New), "connected twice");
        match self.login.tls {
            TlsWish::Never => return self.start_up(Channel::Plain, out),
            TlsWish::Prefer | TlsWish::Require => {
                out.extend_from_slice(&SSL_REQUEST);
                self.state = State::AwaitingSslAnswer;
            }
            TlsWish::Direct => {
                self.state = State::AwaitingTls;
                self.event = Some(LoginEvent::StartTls);
            }
        }
        Ok(())
    }

    /// Tells the login that TLS is established, after [`LoginEvent::StartTls`]. Appends the start-up packet to `out`.
    ///
    /// `binding` is the `tls-server-end-point` data (RFC 5929: a hash of the server's certificate). It is `None` if the
    /// certificate's signature algorithm has no hash function. With it, SCRAM uses channel binding if the server can.
    pub fn tls_started(&mut self, binding: Option<Vec<u8>>, out: &mut Vec<u8>) -> Result<(), LoginError> {
        debug_assert!(matches!(self.state, State::AwaitingTls), "TLS started without a request");
        self.start_up(Channel::Tls(binding), out)
    }

    /// Handles bytes from the server. `input` is everything that was received and not consumed yet. Returns how many
    /// bytes are now consumed, and appends answers to `out`. 0 means that more bytes or a command must come first.
    pub fn handle_bytes(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginError> {
        let mut consumed = 0;
        while self.event.is_none() {
            let rest = input.get(consumed..).unwrap_or_default();
            let step = match &self.state {
                State::AwaitingSslAnswer => self.ssl_answer(rest, out),
                State::Authenticating { .. } | State::AwaitingReady(_) => self.message(rest, out),
                State::New if !rest.is_empty() => Err(Misbehaviour::BytesBeforeRequest.into()),
                State::New | State::AwaitingTls | State::Over => Ok(0),
            };
            match step {
                Ok(0) => break,
                Ok(bytes) => consumed += bytes,
                Err(error) => {
                    self.state = State::Over;
                    return Err(error);
                }
            }
        }
        Ok(consumed)
    }

    fn ssl_answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginError> {
        match (input, self.login.tls) {
            ([], _) => return Ok(0),
            ([SSL_ACCEPTED | ENCRYPTION_REFUSED, _, ..], _) => {
                return Err(Misbehaviour::UnencryptedBytes.into());
            }
            ([SSL_ACCEPTED], _) => {
                self.state = State::AwaitingTls;
                self.event = Some(LoginEvent::StartTls);
            }
            ([ENCRYPTION_REFUSED], TlsWish::Prefer) => self.start_up(Channel::Plain, out)?,
            ([ENCRYPTION_REFUSED], _) => return Err(LoginError::NoTls),
            ([byte, ..], _) => return Err(Misbehaviour::SslAnswer(*byte).into()),
        }
        Ok(1)
    }

    fn start_up(&mut self, channel: Channel, out: &mut Vec<u8>) -> Result<(), LoginError> {
        let login = &self.login;
        let named = [("user", &login.user), ("database", &login.database)];
        let others = login.parameters.iter().map(|(name, value)| (name.as_str(), value));
        let parameters: Vec<(&[u8], &[u8])> = named
            .into_iter()
            .chain(others)
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()))
            .collect();
        // A zero byte would end the string, and the server would read the rest of it as further parameters.
        if parameters.iter().any(|(name, value)| name.is_empty() || name.contains(&0) || value.contains(&0)) {
            self.state = State::Over;
            return Err(LoginError::Unsendable("user, database or start-up parameter"));
        }
        StartupMessage::write(out, login.protocol, parameters);
        let exchange = Exchange::new(std::mem::take(&mut self.scram_nonce), channel);
        self.state = State::Authenticating { exchange, version: login.protocol };
        Ok(())
    }

    fn message(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, LoginError> {
        let Some(header) = frame::header(input).map_err(Misbehaviour::Frame)? else { return Ok(0) };
        let expected: &[u8] = match self.state {
            State::Authenticating { .. } => &BEFORE_OK,
            _ => &AFTER_OK,
        };
        // The type is checked before the length: the first byte shows best that a peer is not a PostgreSQL server.
        if !expected.contains(&header.tag) {
            let before = matches!(self.state, State::Authenticating { .. });
            let when =
                if before { "before AuthenticationOk" } else { "between AuthenticationOk and ReadyForQuery" };
            return Err(Misbehaviour::Unexpected { tag: header.tag, when }.into());
        }
        self.login.limits.check_server_before_auth(header).map_err(Misbehaviour::OverLimit)?;
        let bytes = header.frame_bytes();
        let Some(body) = input.get(frame::HEADER_BYTES..bytes) else { return Ok(0) };
        match header.tag {
            error_response::TAG => return Err(LoginError::Refused(Refusal::new(body)?)),
            notice_response::TAG => drop(NoticeResponse::decode(body)?),
            authentication::TAG => self.authentication(body, out)?,
            negotiate_protocol_version::TAG => self.negotiate(body)?,
            _ => self.session_message(header.tag, body)?,
        }
        Ok(bytes)
    }

    fn authentication(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<(), LoginError> {
        let State::Authenticating { exchange, version } = &mut self.state else { return Ok(()) };
        match Authentication::decode(body)? {
            Authentication::Ok => {
                let mut ready = Box::new(ServerReady::new(*version));
                if let Some((keys, bound)) = exchange.accepted()? {
                    ready.scram_keys = Some(keys);
                    ready.channel_bound = bound;
                }
                self.state = State::AwaitingReady(ready);
                Ok(())
            }
            request => exchange.answer(&request, &self.login, out),
        }
    }

    fn negotiate(&mut self, body: &[u8]) -> Result<(), LoginError> {
        let State::Authenticating { version, .. } = &mut self.state else { return Ok(()) };
        let message = NegotiateProtocolVersion::decode(body)?;
        let (asked, answered) = (self.login.protocol, message.newest);
        if message.unrecognized_options().into_iter().next().is_some() {
            return Err(Misbehaviour::NegotiatedOptions.into());
        }
        // A server has a reason to send this only for an older version than ours. 3.1 never existed; libpq refuses it
        // too.
        match message.newest_minor() {
            Some(minor) if minor < asked.minor && minor != 1 => {
                *version = ProtocolVersion { major: asked.major, minor };
                Ok(())
            }
            _ => Err(Misbehaviour::Negotiation { asked, answered }.into()),
        }
    }

    /// Handles a message between AuthenticationOk and ReadyForQuery.
    fn session_message(&mut self, tag: u8, body: &[u8]) -> Result<(), LoginError> {
        let State::AwaitingReady(ready) = &mut self.state else { return Ok(()) };
        match tag {
            parameter_status::TAG => ready.parameter_status(&ParameterStatus::decode(body)?)?,
            backend_key_data::TAG => ready.backend_key_data(&BackendKeyData::decode(body)?),
            _ => {
                ready.status = ReadyForQuery::decode(body)?.status;
                if let State::AwaitingReady(ready) = std::mem::replace(&mut self.state, State::Over) {
                    self.event = Some(LoginEvent::Ready(ready));
                }
            }
        }
        Ok(())
    }
}

/// Messages that may come before AuthenticationOk.
const BEFORE_OK: [u8; 4] =
    [authentication::TAG, error_response::TAG, notice_response::TAG, negotiate_protocol_version::TAG];
/// Messages that may come between AuthenticationOk and ReadyForQuery.
const AFTER_OK: [u8; 5] = [
    error_response::TAG,
    notice_response::TAG,
    parameter_status::TAG,
    backend_key_data::TAG,
    ready_for_query::TAG,
];
