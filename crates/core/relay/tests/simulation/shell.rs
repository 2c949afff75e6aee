//! What stands in for a worker's event loop: sockets with edge-triggered readiness, and the carrying out of actions.

use std::collections::BTreeMap;

use trunkline_relay::{ClientKey, DirectSend, ServerKey};

use crate::pipe::Pipe;

/// A connection between the proxy and a peer.
#[derive(Debug)]
pub(crate) struct Link {
    /// From the peer to the proxy.
    pub(crate) up: Pipe,
    /// From the proxy to the peer.
    pub(crate) down: Pipe,
    /// The peer's end is gone for good: writes to it fail.
    pub(crate) peer_gone: bool,
    /// The kernel has told that there is something to read, and not all was read yet.
    pub(crate) readable: bool,
    /// A write was not taken whole: the kernel will tell when there is room.
    pub(crate) blocked: bool,
}

impl Link {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            up: Pipe::new(capacity),
            down: Pipe::new(capacity),
            peer_gone: false,
            readable: false,
            blocked: false,
        }
    }
}

/// The sockets of one worker, by the board's keys.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    pub(crate) clients: BTreeMap<u64, usize>,
    pub(crate) servers: BTreeMap<u64, usize>,
}

/// The sockets, lent to a board for one call.
pub(crate) struct Wiring<'a> {
    pub(crate) sockets: &'a Sockets,
    pub(crate) links: &'a mut Vec<Link>,
    pub(crate) rng: &'a mut fastrand::Rng,
}

impl Wiring<'_> {
    fn send(&mut self, link: Option<usize>, bytes: &[u8]) -> usize {
        let Some(link) = link.map(|link| &mut self.links[link]) else { return 0 };
        if link.blocked {
            return 0;
        }
        if link.peer_gone {
            link.readable = true;
            return 0;
        }
        let part = if self.rng.u8(..) < 40 { self.rng.usize(..=bytes.len()) } else { bytes.len() };
        let sent = link.down.push(&bytes[..part]);
        link.blocked = sent < bytes.len();
        sent
    }
}

impl DirectSend for Wiring<'_> {
    fn send_client(&mut self, client: ClientKey, bytes: &[u8]) -> usize {
        self.send(self.sockets.clients.get(&client.to_u64()).copied(), bytes)
    }

    fn send_server(&mut self, server: ServerKey, bytes: &[u8]) -> usize {
        self.send(self.sockets.servers.get(&server.to_u64()).copied(), bytes)
    }
}

pub(crate) fn client_key(bits: u64) -> ClientKey {
    ClientKey::from_u64(bits)
}

pub(crate) fn server_key(bits: u64) -> ServerKey {
    ServerKey::from_u64(bits)
}
