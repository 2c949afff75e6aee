//! The socket of one connection, with or without TLS, and its readiness.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::{Interest, Registry, Token};
use trunkline_net::stream::Stream;
use trunkline_net::tls::TlsSession;

/// The result of one read.
pub(super) enum ReadOutcome {
    /// This many bytes were read; `true` if there may be more already.
    Bytes(usize, bool),
    /// There is nothing to read at the moment.
    WouldBlock,
    /// The TLS handshake is complete. The caller should read again.
    Handshaken,
    /// The peer sends nothing more.
    End,
}

/// A socket registered with a worker's poll.
///
/// It is registered for reading, edge-triggered. Interest in writing is added only while a write would block. Otherwise,
/// with unix sockets, the worker would wake each time the peer reads a message.
pub struct Socket {
    stream: Stream,
    tls: Option<Box<TlsSession>>,
    /// A write would block: the worker waits until the socket is writable.
    blocked: bool,
    /// The client began TLS without an SSLRequest, so it must agree on the protocol by ALPN.
    pub(super) direct_tls: bool,
    /// The peer has closed its side. A short read then does not mean that the socket has been drained: the end follows.
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

    /// Removes the interest in writing, because the socket is writable again.
    pub(super) fn unblock(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        if std::mem::take(&mut self.blocked) {
            registry.reregister(&mut self.stream, token, Interest::READABLE)?;
        }
        Ok(())
    }

    /// Whether a write would find no room. An event follows when there is room again.
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

    /// Begins TLS. `early`: bytes of the TLS stream that were read already.
    pub(super) fn start_tls(&mut self, mut session: TlsSession, early: &[u8]) {
        self.direct_tls = !early.is_empty();
        session.feed(early);
        self.tls = Some(Box::new(session));
    }

    /// Reads once: without TLS into `scratch`, with TLS decrypted into `decrypted`.
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
            // Data that came with the end of the handshake stays in `decrypted`; the caller handles it.
            return Ok(ReadOutcome::Handshaken);
        }
        match received.bytes {
            0 if received.eof => Ok(ReadOutcome::End),
            0 if received.drained => Ok(ReadOutcome::WouldBlock),
            bytes => Ok(ReadOutcome::Bytes(bytes, received.eof || !received.drained || self.read_closed)),
        }
    }

    /// Writes as many bytes as the socket takes and returns their number. If it is less than given, an event follows when
    /// the socket is writable again.
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
                    // After a short write the socket's buffer is full: another write would only return EAGAIN.
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

    /// Writes the bytes that the TLS session has queued. True when all are written.
    pub(super) fn flush_tls(&mut self) -> io::Result<bool> {
        match self.tls.as_deref_mut() {
            Some(tls) => tls.flush(&mut self.stream),
            None => Ok(true),
        }
    }

    /// Sends TLS's close_notify, if the socket has TLS. Dropping the socket then closes it.
    pub(super) fn close_tls(&mut self) {
        if let Some(tls) = self.tls.as_deref_mut() {
            // If this fails, the peer is gone and needs no close_notify.
            let _ = tls.close_notify(&mut self.stream);
        }
    }

    /// Closes the sending side only; what the peer sends can still be read.
    pub(super) fn shut_down_writing(&mut self) {
        self.close_tls();
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}
