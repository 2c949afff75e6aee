//! The TLS session of one connection, driven by the event loop.
//!
//! It uses rustls's unbuffered connections, so that sessions can share the buffers of their thread (`scratch`). A session
//! has buffers of its own only for a received half record and for bytes that the socket did not take.
//!
//! ```text
//!   socket --receive--> [incoming: half a record] --decrypt--> caller's buffer
//!   socket <---flush--- [outgoing: what the socket did not take] <--encrypt-- send, handshake, alerts
//! ```

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::{ClientConfig, CommonState, ServerConfig};
use rustls_pki_types::ServerName;

use super::binding;
use super::engine::{self, Progress};
use super::error::TlsError;
use super::scratch::{self, READ_BYTES_MAX};

/// Most plaintext that [`TlsSession::send`] encrypts before it writes to the socket. So this, plus a little for record
/// headers, is also the most that waits in a session for a slow reader.
pub const QUEUED_BYTES_MAX: usize = 64 * 1024;

/// Most bytes that a session keeps of an incomplete message from a server. It is rustls's own bound on handshake messages;
/// a record is smaller.
pub const SERVER_MESSAGE_BYTES_MAX: usize = 0xffff + 5;

/// Most bytes that a session keeps of an incomplete message from a client: a record of the largest size (16 KiB and what
/// encryption adds), or a ClientHello or certificate chain of several records. It is smaller than for servers, because
/// anybody may connect, send half a message and wait.
pub const CLIENT_MESSAGE_BYTES_MAX: usize = 20 * 1024;

/// Most bytes that records add to [`QUEUED_BYTES_MAX`] bytes of plaintext: at most 5 of header, 8 of nonce and 17 of tag
/// and type for each 16 KiB, and a key update or ticket that is sent with them.
const RECORD_OVERHEAD_MAX: usize = 4096;

/// The result of one [`TlsSession::receive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// The number of plaintext bytes that were appended to the caller's buffer.
    pub bytes: usize,
    /// The peer sends nothing more.
    pub eof: bool,
    /// With `eof`: the connection ended without close_notify. An attacker in the middle can cause that. libpq and
    /// PostgreSQL often end this way, too, because their own protocol has a message for the end.
    pub truncated: bool,
    /// The socket has nothing more at the moment: wait for its next event. (But if the current event said that the peer has
    /// closed its side, call again until `eof`.) If false, call again.
    pub drained: bool,
}

/// One TLS session, as server or as client. Each call gets the stream as an argument: a
/// [`Stream`](crate::stream::Stream), or another that returns [`io::ErrorKind::WouldBlock`] instead of waiting.
///
/// Call order: after a readable event of the socket, call [`receive`](Self::receive) until it is drained; after a writable
/// event, call [`flush`](Self::flush). Both also drive the handshake. While [`handshaking`](Self::handshaking) is true,
/// [`send`](Self::send) accepts nothing. An error is final: drop the session and the stream. (The alert that tells the peer
/// the reason has then been sent, if the socket took it.)
pub struct TlsSession {
    connection: Connection,
    /// Encrypted bytes of an incomplete message. No allocation while it is empty.
    incoming: Vec<u8>,
    /// Encrypted bytes that the socket did not take yet. No allocation while it is empty.
    outgoing: Vec<u8>,
    /// As server: the channel binding of the own certificate.
    own_binding: Option<Arc<[u8]>>,
    /// Whether the peer still sends.
    phase: Phase,
    /// This side has sent close_notify.
    closed: bool,
}

pub(super) enum Connection {
    Server(Box<UnbufferedServerConnection>),
    Client(Box<UnbufferedClientConnection>),
}

#[derive(Debug, Clone, PartialEq)]
enum Phase {
    Open,
    /// The peer has sent close_notify.
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

    /// A session as client, with its ClientHello ready to send.
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

    /// The application protocol that both sides agreed on; `None` if the client asked for none. Direct TLS must have
    /// [`ALPN_POSTGRESQL`](super::ALPN_POSTGRESQL); after an SSLRequest it may be absent.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.connection.state().alpn_protocol()
    }

    /// The channel binding `tls-server-end-point` for SCRAM-SHA-256-PLUS, of the server's certificate: as server the own
    /// one, as client the peer's.
    ///
    /// `None` before the end of the handshake, and for certificates for which RFC 5929 defines no hash (Ed25519).
    pub fn channel_binding(&self) -> Option<Vec<u8>> {
        if self.handshaking() {
            return None;
        }
        match self.connection {
            Connection::Server(_) => self.own_binding.as_deref().map(<[u8]>::to_vec),
            Connection::Client(_) => binding::tls_server_end_point(self.peer_certificate()?).map(Vec::from),
        }
    }

    /// The peer's certificate (DER), if the peer showed one. It was already checked as the options require.
    pub fn peer_certificate(&self) -> Option<&[u8]> {
        self.connection.state().peer_certificates()?.first().map(|certificate| certificate.as_ref())
    }

    /// The TLS version and cipher suite for logs, such as `TLSv1_3 TLS13_AES_256_GCM_SHA384`; `None` before the two sides
    /// have agreed on them.
    pub fn describe(&self) -> Option<String> {
        let state = self.connection.state();
        let (version, suite) = (state.protocol_version()?, state.negotiated_cipher_suite()?);
        Some(format!("{version:?} {:?}", suite.suite()))
    }

    /// Takes bytes that were read from the socket before the caller knew that they are TLS. Call this before the first
    /// [`receive`](Self::receive), and then call `receive` without waiting for an event.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.incoming.extend_from_slice(bytes);
    }

    /// Reads at most 64 KiB from the socket, once, and appends the plaintext to `into`. A caller that has enough need not
    /// call again; the rest stays in the kernel.
    ///
    /// Handshake messages and alerts that follow from the read are written to the stream. What the socket does not take
    /// waits for [`flush`](Self::flush).
    ///
    /// # Errors
    /// An error of the socket, or a [`TlsError`] of kind [`io::ErrorKind::InvalidData`].
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
                Reading::WouldBlock => (0, false),
                Reading::End => (0, true),
            };
            let before = into.len();
            let result = self.decrypt(&mut buffer[..held + count], into);
            let peer_closed = result.map_err(|error| self.fail(stream, error))?;
            Ok::<_, io::Error>(Received {
                bytes: into.len() - before,
                eof: socket_eof || peer_closed,
                truncated: socket_eof && !peer_closed,
                drained: count < READ_BYTES_MAX,
            })
        })?;
        // If this write fails, the caller still gets the received bytes; the next send or flush reports the error.
        let _ = self.flush(stream);
        Ok(received)
    }

    /// Encrypts and writes as much of `plaintext` as the socket takes, and queues at most [`QUEUED_BYTES_MAX`] more.
    /// Returns the number of accepted bytes. The caller keeps the rest and calls again after a writable event. Accepts
    /// nothing during the handshake and while earlier bytes wait.
    ///
    /// # Errors
    /// An error of the socket, or a [`TlsError`] of kind [`io::ErrorKind::InvalidData`].
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
                // `outgoing` was empty before; now it can only have a ticket or key update, which must be sent first.
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

    /// Writes the waiting bytes. Returns `true` when all are written.
    ///
    /// # Errors
    /// An error of the socket.
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

    /// Sends close_notify: this side sends nothing more, but can still receive. Returns `true` when all bytes are written,
    /// as [`flush`](Self::flush) does. During the handshake it sends no close_notify.
    ///
    /// # Errors
    /// An error of the socket, or a [`TlsError`] of kind [`io::ErrorKind::InvalidData`].
    pub fn close_notify(&mut self, stream: &mut (impl Read + Write)) -> io::Result<bool> {
        if !matches!(self.phase, Phase::Failed(_)) && !self.handshaking() {
            self.connection.close(&mut self.incoming, &mut self.outgoing).map_err(TlsError::into_io)?;
            self.closed = true;
        }
        self.flush(stream)
    }

    /// Decrypts `bytes` into `into` and keeps the incomplete message at their end. `true` if the peer has sent
    /// close_notify.
    fn decrypt(&mut self, bytes: &mut [u8], into: &mut Vec<u8>) -> Result<bool, TlsError> {
        let Progress { consumed, peer_closed } = self.connection.advance(bytes, &mut self.outgoing, into)?;
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

    /// Sends the alert for the error, if the socket takes it now. All later calls fail with the same error.
    fn fail(&mut self, stream: &mut (impl Read + Write), error: TlsError) -> io::Error {
        self.incoming = Vec::new();
        // If this write fails too, the caller gets the first error.
        let _ = self.flush(stream);
        self.phase = Phase::Failed(error.clone());
        error.into_io()
    }
}

impl fmt::Debug for TlsSession {
    /// Shows sizes only, so that keys and data stay out of logs.
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
    ) -> Result<Progress, TlsError> {
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
    WouldBlock,
    End,
}

fn read(stream: &mut (impl Read + Write), into: &mut [u8]) -> io::Result<Reading> {
    loop {
        return match stream.read(into) {
            Ok(0) => Ok(Reading::End),
            Ok(count) => Ok(Reading::Bytes(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Reading::WouldBlock),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}

/// Writes until the socket takes no more or all is written. Returns the number of bytes that it took.
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
