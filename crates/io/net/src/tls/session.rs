//! One connection's TLS, fed by the event loop.
//!
//! Built on rustls's unbuffered connections, so that buffers are ours to place: they are the thread's
//! (`scratch`), and a session has its own only for half a record that came in and for what the socket would
//! not take.
//!
//! ```text
//!   socket --receive--> [incoming: half a record] --decrypt--> caller's buffer
//!   socket <---flush--- [outgoing: what the socket would not take] <--encrypt-- send, handshake, alerts
//! ```

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::{ClientConfig, CommonState, ServerConfig};
use rustls_pki_types::ServerName;

use super::binding;
use super::engine::{self, Pulled};
use super::error::TlsError;
use super::scratch::{self, READ_BYTES_MAX};

/// Most plaintext that one [`TlsSession::send`] encrypts before it looks whether the socket takes it; so
/// this, and a little for record headers, is also the most that waits in a session for a slow reader.
pub const QUEUED_BYTES_MAX: usize = 64 * 1024;

/// Most bytes held of a message from a server that is not whole yet. rustls draws the same line for
/// handshake messages; a record is smaller.
pub const SERVER_MESSAGE_BYTES_MAX: usize = 0xffff + 5;

/// Most bytes held of a message from a client that is not whole yet: a record of the largest size (16 KiB
/// and what encryption adds) or a ClientHello or certificate chain of some records. Lower than for servers,
/// because anybody may connect and leave it at that.
pub const CLIENT_MESSAGE_BYTES_MAX: usize = 20 * 1024;

/// Bytes that records add to [`QUEUED_BYTES_MAX`] of plaintext: at most 5 of header, 8 of nonce and 17 of
/// tag and type for each 16 KiB, and a key update or ticket that goes out with them.
const RECORD_OVERHEAD_MAX: usize = 4096;

/// What one [`TlsSession::receive`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Plaintext bytes appended to the caller's buffer.
    pub bytes: usize,
    /// The peer will send nothing more.
    pub eof: bool,
    /// With `eof`: the connection ended without TLS's own farewell (close_notify). An attacker on the way can
    /// do that. libpq and PostgreSQL say goodbye in their own protocol and often leave so.
    pub truncated: bool,
    /// The socket has nothing more for now: wait for its next event. (If the event at hand said that the
    /// peer closed its side, go on until `eof` all the same.) When false, call again.
    pub drained: bool,
}

/// One TLS session, of either role, over a stream that is handed in with each call: a [`Stream`](crate::stream::Stream), or
/// another that gives [`io::ErrorKind::WouldBlock`] instead of waiting.
///
/// Call order: after the socket's readable event, [`receive`](Self::receive) until it is drained; after its
/// writable event, [`flush`](Self::flush). The handshake goes on inside both;
/// [`handshaking`](Self::handshaking) tells when it is over, and until then [`send`](Self::send) takes
/// nothing. An error is final: drop the session and the stream. (The alert that tells the peer why has been
/// sent by then, as far as the socket took it.)
pub struct TlsSession {
    connection: Connection,
    /// Encrypted bytes that are not a whole message yet. Without allocation when empty.
    incoming: Vec<u8>,
    /// Encrypted bytes the socket would not take yet. Without allocation when empty.
    outgoing: Vec<u8>,
    /// The own certificate's binding, on the server's side.
    own_binding: Option<Arc<[u8]>>,
    /// What still comes from the peer.
    phase: Phase,
    /// We said close_notify.
    closed: bool,
}

pub(super) enum Connection {
    Server(Box<UnbufferedServerConnection>),
    Client(Box<UnbufferedClientConnection>),
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Open,
    /// The peer said close_notify.
    PeerClosed,
    Failed(TlsError),
}

impl TlsSession {
    pub(super) fn server(
        config: Arc<ServerConfig>,
        own_binding: Option<Arc<[u8]>>,
    ) -> Result<Self, TlsError> {
        let connection = Connection::Server(Box::new(UnbufferedServerConnection::new(config)?));
        Ok(Self::new(connection, own_binding))
    }

    /// A session with its ClientHello ready to go.
    pub(super) fn client(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, TlsError> {
        let connection = Connection::Client(Box::new(UnbufferedClientConnection::new(config, name)?));
        let mut session = Self::new(connection, None);
        session.connection.advance(&mut [], &mut session.outgoing, &mut Vec::new())?;
        Ok(session)
    }

    fn new(connection: Connection, own_binding: Option<Arc<[u8]>>) -> Self {
        Self {
            connection,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            own_binding,
            phase: Phase::Open,
            closed: false,
        }
    }

    /// Whether the handshake is still under way.
    pub fn handshaking(&self) -> bool {
        self.connection.state().is_handshaking()
    }

    /// Whether encrypted bytes wait for the socket to become writable.
    pub fn wants_write(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// The application protocol both agreed on, `None` if none was asked for. Direct TLS must have
    /// [`ALPN_POSTGRESQL`](super::ALPN_POSTGRESQL); after an SSLRequest it may be absent.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.connection.state().alpn_protocol()
    }

    /// Channel binding data `tls-server-end-point` for SCRAM-SHA-256-PLUS: of our own certificate as the
    /// server, of the peer's as the client.
    ///
    /// `None` before the handshake is over, and for certificates that RFC 5929 gives no hash for (Ed25519).
    pub fn channel_binding(&self) -> Option<Vec<u8>> {
        if self.handshaking() {
            return None;
        }
        match self.connection {
            Connection::Server(_) => self.own_binding.as_deref().map(<[u8]>::to_vec),
            Connection::Client(_) => binding::tls_server_end_point(self.peer_certificate()?).map(Vec::from),
        }
    }

    /// The peer's certificate (DER), if it showed one. It has been checked by then as far as the options ask.
    pub fn peer_certificate(&self) -> Option<&[u8]> {
        self.connection.state().peer_certificates()?.first().map(|certificate| certificate.as_ref())
    }

    /// The TLS version and cipher suite for logs, such as `TLSv1_3 TLS13_AES_256_GCM_SHA384`; `None` before
    /// they are agreed on.
    pub fn describe(&self) -> Option<String> {
        let state = self.connection.state();
        let (version, suite) = (state.protocol_version()?, state.negotiated_cipher_suite()?);
        Some(format!("{version:?} {:?}", suite.suite()))
    }

    /// Hands in bytes that were read from the socket before it was known that they are TLS. Call it before
    /// the first [`receive`](Self::receive), and that one without waiting for an event.
    pub fn pre_read(&mut self, bytes: &[u8]) {
        self.incoming.extend_from_slice(bytes);
    }

    /// Reads from the socket once and appends the plaintext to `into`. At most 64 KiB are read at a
    /// time, so a caller who has enough for now simply does not call again and leaves the rest to the
    /// kernel.
    ///
    /// Handshake messages and alerts that this brings about are written to the stream; what does not fit
    /// waits for [`flush`](Self::flush).
    ///
    /// # Errors
    /// The socket's, or a [`TlsError`] of kind [`io::ErrorKind::InvalidData`].
    pub fn receive(&mut self, stream: &mut (impl Read + Write), into: &mut Vec<u8>) -> io::Result<Received> {
        match &self.phase {
            Phase::Open => {}
            Phase::PeerClosed => return Ok(Received { eof: true, drained: true, ..Received::default() }),
            Phase::Failed(error) => return Err(error.clone().into_io()),
        }
        let held = self.incoming.len();
        let received = scratch::incoming(held + READ_BYTES_MAX, |buffer| {
            let (front, space) = buffer.split_at_mut(held);
            front.copy_from_slice(&self.incoming);
            let space = &mut space[..READ_BYTES_MAX];
            let (count, socket_eof) = match read(stream, space)? {
                Reading::Bytes(count) => (count, false),
                Reading::Nothing => (0, false),
                Reading::End => (0, true),
            };
            let before = into.len();
            let result = self.digest(&mut buffer[..held + count], into);
            let peer_closed = result.map_err(|error| self.fail(stream, error))?;
            Ok::<_, io::Error>(Received {
                bytes: into.len() - before,
                eof: socket_eof || peer_closed,
                truncated: socket_eof && !peer_closed,
                drained: count < READ_BYTES_MAX,
            })
        })?;
        // A socket that can be read and no longer written fails the next send or flush; what was read
        // counts first.
        let _ = self.flush(stream);
        Ok(received)
    }

    /// Encrypts and writes as much of `plaintext` as the socket takes, and at most [`QUEUED_BYTES_MAX`] more.
    /// Returns how many bytes of it were accepted; the caller keeps the rest and calls again after a writable
    /// event. Zero during the handshake, and as long as earlier bytes wait.
    ///
    /// # Errors
    /// The socket's, or a [`TlsError`] of kind [`io::ErrorKind::InvalidData`].
    pub fn send(&mut self, stream: &mut (impl Read + Write), plaintext: &[u8]) -> io::Result<usize> {
        if let Phase::Failed(error) = &self.phase {
            return Err(error.clone().into_io());
        }
        if self.closed {
            return Err(TlsError::AlreadyClosed.into_io());
        }
        if self.handshaking() || !self.flush(stream)? {
            return Ok(0);
        }
        let mut accepted = 0;
        for piece in plaintext.chunks(QUEUED_BYTES_MAX) {
            scratch::outgoing(piece.len() + RECORD_OVERHEAD_MAX, |buffer| {
                let encrypted =
                    self.connection.encrypt(&mut self.incoming, piece, buffer, &mut self.outgoing);
                let length = encrypted.map_err(|error| self.fail(stream, error))?;
                // `outgoing` was empty; only a ticket or key update can be in it now, and goes first.
                if !self.outgoing.is_empty() {
                    self.outgoing.extend_from_slice(&buffer[..length]);
                    return Ok(());
                }
                let written = write_all_possible(stream, &buffer[..length])?;
                self.outgoing.extend_from_slice(&buffer[written..length]);
                Ok::<_, io::Error>(())
            })?;
            accepted += piece.len();
            if !self.flush(stream)? {
                break;
            }
        }
        Ok(accepted)
    }

    /// Writes what waits. `true` when nothing waits any more.
    ///
    /// # Errors
    /// The socket's.
    pub fn flush(&mut self, stream: &mut (impl Read + Write)) -> io::Result<bool> {
        if self.outgoing.is_empty() {
            return Ok(true);
        }
        let written = write_all_possible(stream, &self.outgoing)?;
        if written == self.outgoing.len() {
            self.outgoing = Vec::new();
            return Ok(true);
        }
        self.outgoing.drain(..written);
        Ok(false)
    }

    /// Tells the peer that nothing more will come. `true` when that has left, as in [`flush`](Self::flush).
    /// Receiving goes on. During the handshake there is nothing to tell.
    ///
    /// # Errors
    /// The socket's, or a [`TlsError`] of kind [`io::ErrorKind::InvalidData`].
    pub fn close_notify(&mut self, stream: &mut (impl Read + Write)) -> io::Result<bool> {
        if !matches!(self.phase, Phase::Failed(_)) && !self.handshaking() {
            self.connection.close(&mut self.incoming, &mut self.outgoing).map_err(TlsError::into_io)?;
            self.closed = true;
        }
        self.flush(stream)
    }

    /// Decrypts what is in `bytes` and keeps the half message at its end. `true` when the peer said
    /// close_notify.
    fn digest(&mut self, bytes: &mut [u8], into: &mut Vec<u8>) -> Result<bool, TlsError> {
        let Pulled { consumed, peer_closed } = self.connection.advance(bytes, &mut self.outgoing, into)?;
        let rest = bytes.get(consumed..).unwrap_or_default();
        if peer_closed {
            self.phase = Phase::PeerClosed;
            self.incoming = Vec::new();
            return Ok(true);
        }
        let held_max = match self.connection {
            Connection::Server(_) => CLIENT_MESSAGE_BYTES_MAX,
            Connection::Client(_) => SERVER_MESSAGE_BYTES_MAX,
        };
        if rest.len() > held_max {
            return Err(TlsError::MessageTooLarge);
        }
        if rest.is_empty() {
            self.incoming = Vec::new();
        } else {
            self.incoming.clear();
            self.incoming.extend_from_slice(rest);
        }
        Ok(false)
    }

    /// Sends the alert that came with the fault, if it can leave now, and stays failed.
    fn fail(&mut self, stream: &mut (impl Read + Write), error: TlsError) -> io::Error {
        self.incoming = Vec::new();
        // The fault is what the caller should hear of, not that the peer is too gone to be told.
        let _ = self.flush(stream);
        self.phase = Phase::Failed(error.clone());
        error.into_io()
    }
}

impl fmt::Debug for TlsSession {
    /// Sizes only: keys and what is said stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSession")
            .field("server", &matches!(self.connection, Connection::Server(_)))
            .field("handshaking", &self.handshaking())
            .field("incoming", &self.incoming.len())
            .field("outgoing", &self.outgoing.len())
            .field("phase", &self.phase)
            .finish()
    }
}

impl Connection {
    pub(super) fn state(&self) -> &CommonState {
        match self {
            Self::Server(connection) => connection,
            Self::Client(connection) => connection,
        }
    }

    fn advance(
        &mut self,
        bytes: &mut [u8],
        outgoing: &mut Vec<u8>,
        into: &mut Vec<u8>,
    ) -> Result<Pulled, TlsError> {
        match self {
            Self::Server(connection) => engine::advance(&mut **connection, bytes, outgoing, into),
            Self::Client(connection) => engine::advance(&mut **connection, bytes, outgoing, into),
        }
    }

    fn encrypt(
        &mut self,
        held: &mut [u8],
        plaintext: &[u8],
        buffer: &mut [u8],
        outgoing: &mut Vec<u8>,
    ) -> Result<usize, TlsError> {
        match self {
            Self::Server(connection) => engine::encrypt(&mut **connection, held, plaintext, buffer, outgoing),
            Self::Client(connection) => engine::encrypt(&mut **connection, held, plaintext, buffer, outgoing),
        }
    }

    fn close(&mut self, held: &mut [u8], outgoing: &mut Vec<u8>) -> Result<(), TlsError> {
        match self {
            Self::Server(connection) => engine::close(&mut **connection, held, outgoing),
            Self::Client(connection) => engine::close(&mut **connection, held, outgoing),
        }
    }
}

enum Reading {
    Bytes(usize),
    Nothing,
    End,
}

fn read(stream: &mut (impl Read + Write), into: &mut [u8]) -> io::Result<Reading> {
    loop {
        return match stream.read(into) {
            Ok(0) => Ok(Reading::End),
            Ok(count) => Ok(Reading::Bytes(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Reading::Nothing),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}

/// Writes until all is out or the socket takes no more; returns how many bytes it took.
fn write_all_possible(stream: &mut (impl Read + Write), bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
