//! The bare epoll relay: the least that any proxy can cost. Every pooler is compared with it.
//!
//! Each client has its own server connection, and bytes are passed on without looking at them. It has one thread, mio's
//! edge-triggered epoll, and one buffer of 64 KiB for all connections. After a read that did not fill the buffer, it does not read
//! again, because epoll reports later bytes with a new event.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream as BlockingTcp};
use std::os::unix::net::UnixStream as BlockingUnix;
use std::path::PathBuf;

use anyhow::{Context, Result};
use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UnixStream};
use mio::{Events, Interest, Poll, Token};

/// Bytes read at a time.
const READ_BYTES: usize = 64 * 1024;
/// Events taken from the kernel at a time.
const EVENTS: usize = 1024;
const LISTENER: Token = Token(usize::MAX);

/// The server's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a unix socket.
    Unix(PathBuf),
}

/// The socket of a client or a server.
trait Socket: Read + Write + Source + Send {}
impl<T: Read + Write + Source + Send> Socket for T {}

/// One end of a pair, and the bytes that could not be written to it yet.
struct End {
    socket: Box<dyn Socket>,
    /// Bytes from the other end that this end's kernel buffer did not accept yet. While there are any, the other end is not read.
    unsent: Vec<u8>,
    /// Whether this end has more to read that was not read because the other end was full.
    readable: bool,
}

/// Pair `n` has the tokens `2n` (client) and `2n + 1` (server).
struct Pair {
    ends: [End; 2],
}

/// Relays until the process ends.
///
/// # Errors
/// When the address is taken, or epoll itself fails.
pub(crate) fn run(listen: SocketAddr, upstream: &Upstream) -> Result<()> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(EVENTS);
    let mut listener = TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut pairs: Vec<Option<Pair>> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        if let Err(error) = poll.poll(&mut events, None) {
            if error.kind() == ErrorKind::Interrupted {
                continue;
            }
            return Err(error.into());
        }
        for event in &events {
            if event.token() == LISTENER {
                accept(&listener, upstream, &poll, &mut pairs, &mut free);
                continue;
            }
            let (slot, side) = (event.token().0 / 2, event.token().0 % 2);
            // This event is of a pair that was closed earlier in this batch.
            let Some(Some(pair)) = pairs.get_mut(slot) else { continue };
            let closed = event.is_read_closed() || event.is_error();
            let result = pair.ready(side, event.is_readable(), event.is_writable(), closed, &mut buffer);
            if result.is_err() {
                pairs[slot] = None;
                free.push(slot);
            }
        }
    }
}

/// Accepts every waiting client. If the server cannot be reached, the client is closed at once.
fn accept(
    listener: &TcpListener,
    upstream: &Upstream,
    poll: &Poll,
    pairs: &mut Vec<Option<Pair>>,
    free: &mut Vec<usize>,
) {
    while let Ok((client, _)) = listener.accept() {
        let slot = free.pop().unwrap_or_else(|| {
            pairs.push(None);
            pairs.len() - 1
        });
        match Pair::open(client, upstream, poll, slot) {
            Ok(pair) => pairs[slot] = Some(pair),
            Err(_) => free.push(slot),
        }
    }
}

impl Pair {
    fn open(client: TcpStream, upstream: &Upstream, poll: &Poll, slot: usize) -> std::io::Result<Self> {
        client.set_nodelay(true)?;
        // This connect blocks. On one machine it takes microseconds, and it is not measured.
        let server: Box<dyn Socket> = match upstream {
            Upstream::Tcp(address) => {
                let stream = BlockingTcp::connect(address)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                Box::new(TcpStream::from_std(stream))
            }
            Upstream::Unix(path) => {
                let stream = BlockingUnix::connect(path)?;
                stream.set_nonblocking(true)?;
                Box::new(UnixStream::from_std(stream))
            }
        };
        let sockets: [Box<dyn Socket>; 2] = [Box::new(client), server];
        let mut ends = sockets.map(|socket| End { socket, unsent: Vec::new(), readable: false });
        for (side, end) in ends.iter_mut().enumerate() {
            let interest = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(&mut end.socket, Token(2 * slot + side), interest)?;
        }
        Ok(Self { ends })
    }

    /// Handles an event of one end. An error, or the end of either stream, ends the pair.
    fn ready(
        &mut self,
        side: usize,
        readable: bool,
        writable: bool,
        closed: bool,
        buffer: &mut [u8],
    ) -> std::io::Result<()> {
        let [client, server] = &mut self.ends;
        let (this, other) = if side == 0 { (client, server) } else { (server, client) };
        if writable && !this.unsent.is_empty() {
            this.flush()?;
            if this.unsent.is_empty() && other.readable {
                pass(other, this, true, buffer)?;
            }
        }
        if readable || closed {
            this.readable = true;
            pass(this, other, closed, buffer)?;
        }
        Ok(())
    }
}

impl End {
    fn flush(&mut self) -> std::io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Passes bytes on until `from` has no more, or `to` accepts no more. `to_the_end`: continues also after a short read.
fn pass(from: &mut End, to: &mut End, to_the_end: bool, buffer: &mut [u8]) -> std::io::Result<()> {
    while to.unsent.is_empty() {
        let count = match from.socket.read(buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                from.readable = false;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let bytes = &buffer[..count];
        let written = match to.socket.write(bytes) {
            Ok(written) => written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        to.unsent.extend_from_slice(&bytes[written..]);
        if count < buffer.len() && !to_the_end {
            from.readable = !to.unsent.is_empty();
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener as BlockingListener;
    use std::thread;

    /// A server that sends every byte back, on threads of its own that end with their connection.
    fn echo() -> SocketAddr {
        let listener = BlockingListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a client");
                let mut reader = stream.try_clone().expect("a second handle");
                thread::spawn(move || std::io::copy(&mut reader, &mut stream));
            }
        });
        address
    }

    fn relay_to(upstream: SocketAddr) -> SocketAddr {
        // The port is free when the listener is dropped. The relay takes it before the test connects.
        let listener = BlockingListener::bind("127.0.0.1:0").expect("a port");
        let listen = listener.local_addr().expect("an address");
        drop(listener);
        thread::spawn(move || run(listen, &Upstream::Tcp(upstream)));
        listen
    }

    fn connect(address: SocketAddr) -> BlockingTcp {
        for _ in 0..100_000 {
            if let Ok(stream) = BlockingTcp::connect(address) {
                return stream;
            }
            thread::yield_now();
        }
        panic!("the relay does not listen on {address}");
    }

    #[test]
    fn bytes_pass_in_both_directions_even_if_nobody_reads_for_a_while() {
        let mut stream = connect(relay_to(echo()));
        let sent: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
        let mut writer = stream.try_clone().expect("a second handle");
        let copy = sent.clone();
        let writing = thread::spawn(move || writer.write_all(&copy));
        let mut received = vec![0; sent.len()];
        stream.read_exact(&mut received).expect("all of it comes back");
        writing.join().expect("the writer ends").expect("everything is taken");
        assert!(received == sent, "bytes came back changed");
    }

    #[test]
    fn a_client_that_leaves_closes_its_server_connection() {
        let server = BlockingListener::bind("127.0.0.1:0").expect("a port");
        let client = connect(relay_to(server.local_addr().expect("an address")));
        let (mut at_server, _) = server.accept().expect("the relay connects");
        drop(client);
        assert_eq!(at_server.read(&mut [0; 1]).expect("an end"), 0);
    }
}
