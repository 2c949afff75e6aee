//! Connections that are closed after a last message, such as an error.
//!
//! If a socket with unread input is closed, the kernel resets the connection, and the peer may lose the last message. So
//! the socket stays open for a short time. What the peer still sends is discarded, and the socket is closed when the
//! peer closes its side.

use std::time::{Duration, Instant};

use mio::Registry;

use super::socket::{ReadOutcome, Socket};
use super::token::{Kind, token};

/// Most connections that are kept. Beyond this, the oldest one is closed at once.
const LINGERING_MAX: usize = 256;
/// How long a connection is kept.
const LINGER: Duration = Duration::from_secs(2);
/// How many bytes are read from a connection and discarded before it is closed.
const DISCARDED_BYTES_MAX: usize = 4 << 20;

struct LingeringSocket {
    socket: Box<Socket>,
    until: Instant,
    bytes_left: usize,
}

#[derive(Default)]
pub(super) struct Lingering {
    sockets: Vec<Option<LingeringSocket>>,
    next: usize,
}

impl Lingering {
    /// Takes over a socket after its last message was written.
    pub(super) fn add(&mut self, mut socket: Box<Socket>, registry: &Registry) {
        if self.sockets.is_empty() {
            self.sockets.resize_with(LINGERING_MAX, || None);
        }
        let slot = self.next;
        self.next = (self.next + 1) % LINGERING_MAX;
        socket.shut_down_writing();
        if socket.deregister(registry).is_ok()
            && socket.register(registry, token(Kind::Lingering, slot as u64)).is_ok()
        {
            let until = Instant::now() + LINGER;
            self.sockets[slot] = Some(LingeringSocket { socket, until, bytes_left: DISCARDED_BYTES_MAX });
        }
    }

    pub(super) fn readable(&mut self, slot: u64, scratch: &mut [u8], decrypted: &mut Vec<u8>) {
        let Some(entry) = usize::try_from(slot).ok().and_then(|slot| self.sockets.get_mut(slot)) else {
            return;
        };
        let Some(lingering) = entry else { return };
        loop {
            match lingering.socket.read(scratch, decrypted) {
                Ok(ReadOutcome::Bytes(bytes, _)) if bytes <= lingering.bytes_left => {
                    lingering.bytes_left -= bytes;
                }
                Ok(ReadOutcome::WouldBlock) => return,
                Ok(ReadOutcome::Handshaken) => {}
                _ => break,
            }
        }
        *entry = None;
    }

    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        for entry in &mut self.sockets {
            if entry.as_ref().is_some_and(|lingering| lingering.until <= now) {
                *entry = None;
            }
        }
    }
}
