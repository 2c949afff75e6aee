//! Connections that were told something before the close.
//!
//! Closing a socket with unread input makes the kernel reset the connection, and the peer may lose our last words. So
//! it is kept for a moment, what it still sends is thrown away, and it is closed when the peer closes it.

use std::time::{Duration, Instant};

use mio::Registry;

use super::socket::{ReadOutcome, Socket};
use super::token::{Kind, token};

/// Connections kept at most; beyond, the oldest is closed at once.
const LINGERING_MAX: usize = 256;
/// How long.
const LINGER: Duration = Duration::from_secs(2);
/// How much is read of what nobody wants.
const THROWN_AWAY_BYTES_MAX: usize = 4 << 20;

struct LingeringSocket {
    socket: Box<Socket>,
    until: Instant,
    left: usize,
}

#[derive(Default)]
pub(super) struct Lingering {
    guests: Vec<Option<LingeringSocket>>,
    next: usize,
}

impl Lingering {
    /// Takes over a socket whose last bytes were written.
    pub(super) fn take(&mut self, mut socket: Box<Socket>, registry: &Registry) {
        if self.guests.is_empty() {
            self.guests.resize_with(LINGERING_MAX, || None);
        }
        let slot = self.next;
        self.next = (self.next + 1) % LINGERING_MAX;
        socket.finish_writing();
        if socket.deregister(registry).is_ok()
            && socket.register(registry, token(Kind::Lingering, slot as u64)).is_ok()
        {
            let until = Instant::now() + LINGER;
            self.guests[slot] = Some(LingeringSocket { socket, until, left: THROWN_AWAY_BYTES_MAX });
        }
    }

    pub(super) fn readable(&mut self, slot: u64, scratch: &mut [u8], plain: &mut Vec<u8>) {
        let Some(entry) = usize::try_from(slot).ok().and_then(|slot| self.guests.get_mut(slot)) else {
            return;
        };
        let Some(guest) = entry else { return };
        loop {
            match guest.socket.read(scratch, plain) {
                Ok(ReadOutcome::Bytes(bytes, _)) if bytes <= guest.left => guest.left -= bytes,
                Ok(ReadOutcome::Nothing) => return,
                Ok(ReadOutcome::Handshaken) => {}
                _ => break,
            }
        }
        *entry = None;
    }

    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        for entry in &mut self.guests {
            if entry.as_ref().is_some_and(|guest| guest.until <= now) {
                *entry = None;
            }
        }
    }
}
