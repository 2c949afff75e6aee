//! Accepts connections, and gives logins their share of a round.

use std::io;

use trunkline_net::stream::Stream;

use super::mailbox::WorkerMessage;
use super::socket::Socket;
use super::token::{self, Kind, Source};
use super::{Listener, Worker};

/// Most connections that are accepted from a listener's backlog when it is closed, to tell each of them why it must leave.
const LAST_ACCEPTS_MAX: usize = 64;

/// The result of one accept.
enum Accepted {
    /// A connection; `true` if it came over a unix socket.
    Connection(Stream, bool),
    /// The connection had already ended.
    Aborted,
    /// No connection waits.
    Nobody,
    /// The accept failed, most likely because the process has no free file descriptor.
    Failed,
}

impl Worker {
    /// Reads from logins and accepts connections, as far as the board allows in this round.
    /// `more`: the kernel has more events than this round took.
    pub(super) fn handle_arrivals(&mut self, more: bool) {
        let nobody = self.ready_listeners.is_empty() && self.board.logins_waiting() == 0;
        if nobody || !self.board.begin_arrivals(self.micros_now(), more) {
            return;
        }
        while let Some(key) = self.board.next_login(self.micros_now()) {
            self.read(Source { kind: Kind::Client, bits: key.to_u64() });
            self.carry_out();
        }
        let mut listeners = std::mem::take(&mut self.ready_listeners).into_iter();
        while let Some(index) = listeners.next() {
            if !self.accept_some(index) {
                continue;
            }
            // This listener has more connections: the next round begins with the other listeners.
            self.ready_listeners.extend(listeners);
            self.ready_listeners.push(index);
            return;
        }
    }

    /// Notes that a connection may wait at this listener.
    pub(super) fn accept_later(&mut self, index: usize) {
        if !self.ready_listeners.contains(&index) {
            self.ready_listeners.push(index);
        }
    }

    /// Accepts from a listener while the board allows it. True when the listener may have more for the next round.
    fn accept_some(&mut self, index: usize) -> bool {
        while self.board.may_accept(self.micros_now()) {
            match self.accept(index) {
                Accepted::Connection(stream, unix) => self.assign_to_worker(stream, unix),
                Accepted::Aborted => {}
                Accepted::Nobody => return false,
                Accepted::Failed => {
                    self.failed_listeners.push(index);
                    return false;
                }
            }
        }
        true
    }

    fn accept(&self, index: usize) -> Accepted {
        let accepted = match self.listeners.get(index) {
            Some(Listener::Tcp(listener)) => {
                listener.accept().map(|(stream, _)| (Stream::Tcp(stream), false))
            }
            Some(Listener::Unix(listener)) => {
                listener.accept().map(|(stream, _)| (Stream::Unix(stream), true))
            }
            None => return Accepted::Nobody,
        };
        match accepted {
            Ok((stream, unix)) => Accepted::Connection(stream, unix),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Accepted::Nobody,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Accepted::Aborted,
            Err(error) => {
                // Most likely no file descriptor is free. The connections in the backlog wait until some clients have left.
                tracing::error!("cannot accept a connection: {error}");
                Accepted::Failed
            }
        }
    }

    /// Gives a new connection to the worker that the board chooses.
    fn assign_to_worker(&mut self, stream: Stream, unix: bool) {
        let worker = self.board.assign_worker();
        let Some(peer) = self.peers.get(worker).filter(|_| worker != self.board.worker()) else {
            return self.adopt_client(stream, unix);
        };
        if let Err(WorkerMessage::Client(stream, unix)) = peer.send(WorkerMessage::Client(stream, unix)) {
            tracing::warn!(worker, "a worker does not read its messages");
            self.board.end_assignment(worker);
            self.adopt_client(stream, unix);
        }
    }

    /// Takes a connection that another worker has accepted for this worker.
    pub(super) fn client_from_other_worker(&mut self, stream: Stream, unix: bool) {
        self.board.end_assignment(self.board.worker());
        self.adopt_client(stream, unix);
    }

    /// Closes the listening sockets when a shutdown begins, so that new clients reach the next process that listens on the
    /// same addresses. Connections that wait in the backlog are accepted, so that the board can tell these clients why
    /// they must leave.
    pub(super) fn stop_listening(&mut self) {
        for index in 0..self.listeners.len() {
            for _ in 0..LAST_ACCEPTS_MAX {
                match self.accept(index) {
                    Accepted::Connection(stream, unix) => self.adopt_client(stream, unix),
                    Accepted::Aborted => {}
                    Accepted::Nobody | Accepted::Failed => break,
                }
            }
        }
        self.ready_listeners.clear();
        self.failed_listeners.clear();
        for mut listener in self.listeners.drain(..) {
            let deregistered = match &mut listener {
                Listener::Tcp(listener) => self.sockets.registry.deregister(listener),
                Listener::Unix(listener) => self.sockets.registry.deregister(listener),
            };
            if let Err(error) = deregistered {
                tracing::warn!("cannot deregister a listening socket: {error}");
            }
        }
    }

    fn adopt_client(&mut self, stream: Stream, unix: bool) {
        let mut socket = Box::new(Socket::new(stream));
        match self.board.client_accepted(unix) {
            Ok(key) => match socket.register(&self.sockets.registry, token::for_key(Kind::Client, key)) {
                Ok(()) => self.sockets.clients.insert(key, socket),
                Err(error) => {
                    tracing::error!("cannot register a socket: {error}");
                    self.board.client_closed(key);
                }
            },
            Err(refusal) => {
                let token = token::token(Kind::Lingering, u64::MAX >> 8);
                if socket.register(&self.sockets.registry, token).is_ok()
                    && socket.write(&refusal, &self.sockets.registry, token).is_ok()
                {
                    self.lingering.add(socket, &self.sockets.registry);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use trunkline_relay::Shared;
    use trunkline_relay::board::LOGIN_STEPS_MAX;

    use super::*;
    use crate::worker::{Mailbox, WorkerSetup};

    const STRANGERS: usize = 10 * LOGIN_STEPS_MAX as usize;
    const READY: [u8; 6] = *b"Z\0\0\0\x05I";

    /// A worker whose rounds the test runs in its own thread, its mailbox, and the address where it listens.
    fn worker(server: SocketAddr) -> (Worker, Mailbox, SocketAddr) {
        let text = format!(
            "[auth]\ntype = \"trust\"\n[users.u]\n[databases.d]\nhost = \"{}\"\nport = {}\nsslmode = \"disable\"\n",
            server.ip(),
            server.port()
        );
        let (directory, tls) = crate::serve::worker_settings(&text);
        let listener = mio::net::TcpListener::bind(([127, 0, 0, 1], 0).into()).expect("a port");
        let address = listener.local_addr().expect("an address");
        let classes = trunkline_relay::Classes::new(1 << 16, 7);
        let registry = trunkline_relay::prepared::Registry::new(1 << 16);
        let shared = Arc::new(Shared::new(1, registry, classes));
        let listeners = vec![Listener::Tcp(listener)];
        let (dns_ttl, started) = (Duration::from_secs(1), Instant::now());
        let setup =
            WorkerSetup { index: 0, shared, directory, tls, listeners, keepalive: None, dns_ttl, started };
        let (worker, mailbox) = Worker::new(setup).expect("a worker");
        (worker, mailbox, address)
    }

    /// A server that accepts one login without a password and ignores everything after it.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("the proxy");
            let mut buffer = [0; 1024];
            assert!(stream.read(&mut buffer).expect("a start-up packet") > 0);
            stream.write_all(&[b"R\0\0\0\x08\0\0\0\0".as_slice(), &READY].concat()).expect("sent");
            while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
        });
        address
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).expect("the worker's backlog takes it");
        stream.set_nonblocking(true).expect("a socket");
        stream
    }

    fn start_up(mut stream: &TcpStream) {
        stream.write_all(b"\0\0\0\x1b\0\x03\0\0user\0u\0database\0d\0\0").expect("sent");
    }

    /// Reads the bytes that have arrived. Returns whether they end with ReadyForQuery.
    fn is_ready(mut stream: &TcpStream) -> bool {
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer) {
            Ok(count) => buffer[..count].ends_with(&READY),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
                false
            }
        }
    }

    /// Runs rounds until `done`, and returns their number. The clock ends each round after a tick at the latest.
    fn rounds(worker: &mut Worker, mut done: impl FnMut(&Worker) -> bool) -> usize {
        let most = 10_000;
        (0..most)
            .find(|_| {
                worker.round();
                done(worker)
            })
            .expect("done within 10,000 rounds")
            + 1
    }

    /// Once a client that had logged in had to wait for every login that had arrived before its message.
    #[test]
    fn many_logins_at_once_do_not_delay_a_client_that_is_logged_in() {
        let (mut worker, _mailbox, address) = worker(server());
        let mut inside = connect(address);
        start_up(&inside);
        rounds(&mut worker, |_| is_ready(&inside));
        let strangers: Vec<TcpStream> = (0..STRANGERS).map(|_| connect(address)).collect();
        rounds(&mut worker, |worker| worker.board.status().clients_login == STRANGERS as u64);
        strangers.iter().for_each(start_up);
        worker.round();
        let let_in = strangers.iter().filter(|stranger| is_ready(stranger)).count();
        assert!(let_in <= LOGIN_STEPS_MAX as usize, "{let_in} of {STRANGERS} came in within one round");
        // A Sync of an idle client: the proxy answers it without a server.
        inside.write_all(b"S\0\0\0\x04").expect("sent");
        rounds(&mut worker, |_| is_ready(&inside));
        assert!(worker.board.logins_waiting() > 0, "the client that is logged in had to wait for all logins");
        rounds(&mut worker, |worker| worker.board.status().clients_login == 0);
    }
}
