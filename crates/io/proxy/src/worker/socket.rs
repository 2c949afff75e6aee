//! One connection's socket: decrypted or TLS, and what is known of its readiness.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::{Interest, Registry, Token};
use trunkline_net::stream::Stream;
use trunkline_net::tls::TlsSession;

/// What one read brought.
pub(super) enum ReadOutcome {
    /// This many bytes in the scratch buffer; whether there may be more at once.
    Bytes(usize, bool),
    /// Nothing for now.
    WouldBlock,
    /// The TLS handshake was completed; read again.
    Handshaken,
    /// The peer will send nothing more.
    End,
}

/// A socket registered with a worker's poll.
///
/// Registered once for reading, edge-triggered. Interest in writing is added when a write would block and kept until
/// the socket is writable again: on unix sockets every message that the peer reads would wake us otherwise.
pub struct Socket {
    stream: Stream,
    tls: Option<Box<TlsSession>>,
    /// Waiting for the socket to become writable.
    blocked: bool,
    /// TLS was begun without asking: the protocol must be agreed on by ALPN.
    pub(super) direct_tls: bool,
    /// The peer has closed its side: a short read is not the end of what there is.
    pub(super) read_closed: bool,
}

impl Socket {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, tls: None, blocked: false, direct_tls: false, read_closed: false }
    }

    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.stream, token, Interest::READABLE)
    }

    pub(super) fn register_connecting(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.blocked = true;
        registry.register(&mut self.stream, token, Interest::READABLE | Interest::WRITABLE)
    }

    pub(super) fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        registry.deregister(&mut self.stream)
    }

    /// The socket can be written to again.
    pub(super) fn unblock(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        if std::mem::take(&mut self.blocked) {
            registry.reregister(&mut self.stream, token, Interest::READABLE)?;
        }
        Ok(())
    }

    /// Whether a write would find no room: that there is some again is reported.
    pub(super) fn is_full(&self) -> bool {
        self.blocked && self.tls.is_none()
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(super) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.tls.as_deref().is_some_and(TlsSession::handshaking)
    }

    pub(super) fn tls(&self) -> Option<&TlsSession> {
        self.tls.as_deref()
    }

    /// Everything from here on is TLS. `early`: bytes of it that were read already.
    pub(super) fn start_tls(&mut self, mut session: TlsSession, early: &[u8]) {
        self.direct_tls = !early.is_empty();
        session.pre_read(early);
        self.tls = Some(Box::new(session));
    }

    /// Reads into `scratch`, which a TLS session may make longer.
    pub(super) fn read(&mut self, scratch: &mut [u8], decrypted: &mut Vec<u8>) -> io::Result<ReadOutcome> {
        let Some(tls) = self.tls.as_deref_mut() else {
            return match self.stream.read(scratch) {
                Ok(0) => Ok(ReadOutcome::End),
                Ok(count) => Ok(ReadOutcome::Bytes(count, count == scratch.len() || self.read_closed)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(ReadOutcome::WouldBlock),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(ReadOutcome::Bytes(0, true)),
                Err(error) => Err(error),
            };
        };
        decrypted.clear();
        let handshaking = tls.handshaking();
        let received = tls.receive(&mut self.stream, decrypted)?;
        if handshaking && !tls.handshaking() {
            // What came after the handshake stays in `decrypted` for the next step.
            return Ok(ReadOutcome::Handshaken);
        }
        match received.bytes {
            0 if received.eof => Ok(ReadOutcome::End),
            0 if received.drained => Ok(ReadOutcome::WouldBlock),
            bytes => Ok(ReadOutcome::Bytes(bytes, received.eof || !received.drained || self.read_closed)),
        }
    }

    /// Writes what it can; fewer bytes than given means that the socket would block and that its readiness will be
    /// reported.
    pub(super) fn write(&mut self, bytes: &[u8], registry: &Registry, token: Token) -> io::Result<usize> {
        let mut written = 0;
        while written < bytes.len() {
            let rest = &bytes[written..];
            let result = match self.tls.as_deref_mut() {
                Some(tls) => tls.send(&mut self.stream, rest),
                None => self.stream.write(rest),
            };
            match result {
                Ok(0) => break,
                Ok(count) => {
                    written += count;
                    // A short write says that the buffer is full: trying again would only find EAGAIN.
                    if self.tls.is_none() && written < bytes.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let queued = self.tls.as_deref().is_some_and(TlsSession::wants_write);
        if (written < bytes.len() || queued) && !self.blocked {
            self.blocked = true;
            registry.reregister(&mut self.stream, token, Interest::READABLE | Interest::WRITABLE)?;
        }
        Ok(written)
    }

    /// Writes what TLS has queued; true when all is out.
    pub(super) fn flush_tls(&mut self) -> io::Result<bool> {
        match self.tls.as_deref_mut() {
            Some(tls) => tls.flush(&mut self.stream),
            None => Ok(true),
        }
    }

    /// Says good-bye by TLS, if there is any: dropping the socket then closes it.
    pub(super) fn close_tls(&mut self) {
        if let Some(tls) = self.tls.as_deref_mut() {
            // The peer may be gone already: it then needs no good-bye.
            let _ = tls.close_notify(&mut self.stream);
        }
    }

    /// Closes our side alone: what the peer sends can still be read.
    pub(super) fn shut_down_writing(&mut self) {
        self.close_tls();
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}
