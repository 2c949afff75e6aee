//! The sockets of a worker's clients and servers, found by the board's keys.

use mio::Registry;
use trunkline_net::stream::Keepalive;
use trunkline_pool::arena::Key;
use trunkline_relay::{ClientKey, DirectSend, ServerKey};

use super::socket::Socket;
use super::token::{self, Kind, Source};

/// A table of sockets, with the same indexes as one of the board's arenas.
pub(super) struct Table<T> {
    kind: Kind,
    slots: Vec<Option<(Key<T>, Box<Socket>)>>,
    /// Sockets whose slot the board has reused before the worker has carried out the board's last action about them.
    displaced: Vec<(Key<T>, Box<Socket>)>,
}

impl<T> Table<T> {
    fn new(kind: Kind) -> Self {
        Self { kind, slots: Vec::new(), displaced: Vec::new() }
    }

    pub(super) fn insert(&mut self, key: Key<T>, socket: Box<Socket>) {
        if self.slots.len() <= key.index() {
            self.slots.resize_with(key.index() + 1, || None);
        }
        self.displaced.extend(self.slots[key.index()].replace((key, socket)));
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: Key<T>) -> Option<&mut Socket> {
        match self.slots.get_mut(key.index()) {
            Some(Some((known, socket))) if *known == key => Some(socket),
            _ => self.displaced.iter_mut().find(|(known, _)| *known == key).map(|(_, socket)| &mut **socket),
        }
    }

    pub(super) fn remove(&mut self, key: Key<T>) -> Option<Box<Socket>> {
        if let Some(at) = self.displaced.iter().position(|(known, _)| *known == key) {
            return Some(self.displaced.swap_remove(at).1);
        }
        self.get_mut(key)?;
        self.slots.get_mut(key.index())?.take().map(|(_, socket)| socket)
    }
}

/// All sockets of a worker, with the registry that a write needs.
pub(super) struct Sockets {
    pub(super) registry: Registry,
    pub(super) keepalive: Option<Keepalive>,
    pub(super) clients: Table<trunkline_relay::Clients>,
    pub(super) servers: Table<trunkline_relay::Servers>,
    /// Connections to which a write failed. They are read once more, because the peer may have sent a reason before.
    pub(super) failed_writes: Vec<Source>,
}

impl Sockets {
    pub(super) fn new(registry: Registry, keepalive: Option<Keepalive>) -> Self {
        Self {
            registry,
            keepalive,
            clients: Table::new(Kind::Client),
            servers: Table::new(Kind::Server),
            failed_writes: Vec::new(),
        }
    }
}

fn send<T>(
    table: &mut Table<T>,
    registry: &Registry,
    failed_writes: &mut Vec<Source>,
    key: Key<T>,
    bytes: &[u8],
) -> usize {
    let kind = table.kind;
    let Some(socket) = table.get_mut(key).filter(|socket| !socket.is_full()) else { return 0 };
    match socket.write(bytes, registry, token::for_key(kind, key)) {
        Ok(written) => written,
        Err(error) => {
            // A server may have sent the reason before it closed. The read finds it and tells the board.
            tracing::debug!("writing to {kind:?} {key:?} failed: {error}");
            socket.read_closed = true;
            failed_writes.push(Source { kind, bits: key.to_u64() });
            0
        }
    }
}

impl DirectSend for Sockets {
    fn send_client(&mut self, key: ClientKey, bytes: &[u8]) -> usize {
        send(&mut self.clients, &self.registry, &mut self.failed_writes, key, bytes)
    }

    fn send_server(&mut self, key: ServerKey, bytes: &[u8]) -> usize {
        send(&mut self.servers, &self.registry, &mut self.failed_writes, key, bytes)
    }
}
