//! The sockets of the simulation, which take the place of those of a worker's event loop. Their readiness is
//! edge-triggered.

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
    /// The peer has closed its end, so writes to it fail.
    pub(crate) peer_gone: bool,
    /// The kernel has reported bytes to read, and not all of them were read yet.
    pub(crate) readable: bool,
    /// The kernel did not take all bytes of a write. It will report when there is room again.
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

/// The sockets that a board may write to during one call.
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
