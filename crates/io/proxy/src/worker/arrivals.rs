//! Connections are accepted, and logins get their share of a round.

use std::io;

use trunkline_net::stream::Stream;

use super::mailbox::WorkerMessage;
use super::socket::Socket;
use super::token::{self, Kind, Source};
use super::{Listener, Worker};

/// Connections taken from a listener's backlog when it is closed: they are told why they must go.
const LAST_ACCEPTS_MAX: usize = 64;

/// What came of trying to accept one connection.
enum Accepted {
    Connection(Stream, bool),
    /// One that was gone already.
    Aborted,
    Nobody,
    /// Not now: out of descriptors, most likely.
    Failed,
}

impl Worker {
    /// Deals with those who come in, as far as the board lets it in this round.
    /// `more`: the kernel has more events than the round took.
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
            // The others first, in the next round.
            self.ready_listeners.extend(listeners);
            self.ready_listeners.push(index);
            return;
        }
    }

    /// Somebody may be there to be accepted.
    pub(super) fn accept_later(&mut self, index: usize) {
        if !self.ready_listeners.contains(&index) {
            self.ready_listeners.push(index);
        }
    }

    /// Accepts from a listener while the board allows it; true when it is to go on in the next round.
    fn accept_some(&mut self, index: usize) -> bool {
        while self.board.may_accept(self.micros_now()) {
            match self.accept(index) {
                Accepted::Connection(stream, unix) => self.assign(stream, unix),
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
                // Out of descriptors, most likely: those that wait are accepted when others have left.
                tracing::error!("cannot accept a connection: {error}");
                Accepted::Failed
            }
        }
    }

    /// Gives a new connection to the worker that is to have it.
    fn assign(&mut self, stream: Stream, unix: bool) {
        let worker = self.board.seat();
        let Some(peer) = self.peers.get(worker).filter(|_| worker != self.board.worker()) else {
            return self.adopt_client(stream, unix);
        };
        if let Err(WorkerMessage::Client(stream, unix)) = peer.send(WorkerMessage::Client(stream, unix)) {
            tracing::warn!(worker, "a worker does not read its messages");
            self.board.seat_given_back(worker);
            self.adopt_client(stream, unix);
        }
    }

    /// Another worker has accepted a connection for this one.
    pub(super) fn client_from_other_worker(&mut self, stream: Stream, unix: bool) {
        self.board.seat_given_back(self.board.worker());
        self.adopt_client(stream, unix);
    }

    /// The end begins: the next process that listens on the same addresses gets the new clients. Those that the kernel has
    /// connected already are taken, so that the board can tell them why they must go.
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
            let left = match &mut listener {
                Listener::Tcp(listener) => self.sockets.registry.deregister(listener),
                Listener::Unix(listener) => self.sockets.registry.deregister(listener),
            };
            if let Err(error) = left {
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

    /// A worker in the test's own thread, whose rounds the test counts, and where it listens.
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

    /// A server that lets everybody in, and is asked nothing more.
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

    /// Whether the last thing that came is ReadyForQuery. What is read is gone.
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

    /// Rounds until `done`; each ends with the clock's next strike at the latest.
    fn rounds(worker: &mut Worker, mut done: impl FnMut(&Worker) -> bool) -> usize {
        let most = 10_000;
        (0..most)
            .find(|_| {
                worker.round();
                done(worker)
            })
            .expect("it happens at last")
            + 1
    }

    /// Clients that were in waited for every login that had come before them.
    #[test]
    fn a_storm_of_logins_does_not_hold_up_who_is_in() {
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
        // A Sync, which an idle client is answered without a server.
        inside.write_all(b"S\0\0\0\x04").expect("sent");
        rounds(&mut worker, |_| is_ready(&inside));
        assert!(worker.board.logins_waiting() > 0, "a client that is in was answered after all that came in");
        rounds(&mut worker, |worker| worker.board.status().clients_login == 0);
    }
}
