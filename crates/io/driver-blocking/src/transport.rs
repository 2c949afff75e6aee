//! Bytes to and from a server, encrypted or not.

use std::io;
use std::time::Instant;

use trunkline_net::tls::TlsSession;

use crate::socket::Socket;

/// Room for one receive: a full socket buffer's worth, and no more than the processor's second cache holds.
const RECEIVE_BYTES: usize = 64 << 10;

/// A socket, perhaps with TLS over it.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
    tls: Option<Box<TlsSession>>,
}

impl Transport {
    pub(crate) fn new(socket: Socket) -> Self {
        Self { socket, tls: None }
    }

    /// Puts TLS over it and goes through the handshake.
    pub(crate) fn start_tls(&mut self, mut session: TlsSession, deadline: Option<Instant>) -> io::Result<()> {
        let mut plaintext = Vec::new();
        loop {
            let flushed = session.flush(&mut self.socket.unwaiting())?;
            if !session.handshaking() && flushed {
                break;
            }
            if !self.socket.wait(!flushed, deadline)?.readable {
                continue;
            }
            let received = session.receive(&mut self.socket.unwaiting(), &mut plaintext)?;
            if received.eof {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if !plaintext.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server spoke before it was spoken to",
            ));
        }
        self.tls = Some(Box::new(session));
        Ok(())
    }

    /// The socket, and TLS over it.
    pub(crate) fn into_parts(self) -> (Socket, Option<Box<TlsSession>>) {
        (self.socket, self.tls)
    }

    pub(crate) fn tls(&self) -> Option<&TlsSession> {
        self.tls.as_deref()
    }

    /// Sends what can be sent without waiting, and says how much of `bytes` is taken care of.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.send(bytes),
            Some(session) => session.send(&mut self.socket.unwaiting(), bytes),
        }
    }

    /// Waits until more can be sent, or the server says something.
    pub(crate) fn wait_to_send(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        self.socket.wait(true, deadline)?;
        self.flush()
    }

    /// For a caller's own poll.
    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.fd()
    }

    /// Sends what is held back, as far as the system takes it now.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(session) = &mut self.tls {
            session.flush(&mut self.socket.unwaiting())?;
        }
        Ok(())
    }

    /// Whether bytes that were taken care of have not left yet.
    pub(crate) fn holds_back(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| session.wants_write())
    }

    /// Waits for the server's next bytes and appends them; 0 is the end. With `write` it also returns, with `None`, when more
    /// can be sent.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        into: &mut Vec<u8>,
        write: bool,
        deadline: Option<Instant>,
    ) -> io::Result<Option<usize>> {
        make_room(into);
        if self.tls.is_none() && !write && deadline.is_none() {
            return self.socket.receive(into, true).map(Some);
        }
        loop {
            let ready = self.socket.wait(write || self.holds_back(), deadline)?;
            if ready.readable {
                if let Some(count) = self.receive_now(into)? {
                    return Ok(Some(count));
                }
            } else {
                if let Some(session) = &mut self.tls {
                    session.flush(&mut self.socket.unwaiting())?;
                }
                if write {
                    return Ok(None);
                }
            }
        }
    }

    /// Receives what is there; `None` when nothing is. `into` must have room.
    pub(crate) fn receive_now(&mut self, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let Some(session) = &mut self.tls else {
            return match self.socket.receive(into, false) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                received => received.map(Some),
            };
        };
        let received = session.receive(&mut self.socket.unwaiting(), into)?;
        Ok((received.bytes > 0 || received.eof).then_some(received.bytes))
    }
}

/// Sees to it that a receive has where to put its bytes.
pub(crate) fn make_room(into: &mut Vec<u8>) {
    if into.capacity() - into.len() < RECEIVE_BYTES / 2 {
        into.reserve(RECEIVE_BYTES);
    }
}
