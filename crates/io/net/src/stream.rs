//! One connection, TCP or unix, as the event loop sees it.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::net::{RecvFlags, SendFlags};
use socket2::{SockRef, TcpKeepalive};

/// A connected (or connecting) nonblocking socket.
///
/// Reads and writes return [`io::ErrorKind::WouldBlock`] instead of waiting.
#[derive(Debug)]
pub enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a unix socket.
    Unix(UnixStream),
}

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A TCP peer's address.
    Tcp(SocketAddr),
    /// A process on this machine. The kernel vouches for the ids, so `peer` authentication may rely on them.
    Unix {
        /// The peer's effective user id when it connected, `None` where the platform does not tell.
        uid: Option<u32>,
        /// The peer's process id when it connected, `None` where the platform does not tell.
        pid: Option<i32>,
    },
}

impl fmt::Display for Peer {
    /// As logs show it: `192.0.2.1:5000`, `[::1]:5000`, `unix(uid 1000)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix { uid: Some(uid), .. } => write!(f, "unix(uid {uid})"),
            Self::Unix { uid: None, .. } => f.write_str("unix"),
        }
    }
}

/// TCP keepalive as libpq and the server spell it; `None` leaves the system's value alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence before the first probe (`tcp_keepidle`).
    pub idle: Option<Duration>,
    /// Time between probes (`tcp_keepintvl`).
    pub interval: Option<Duration>,
    /// Probes without answer before the connection is given up (`tcp_keepcnt`).
    pub probes_max: Option<u32>,
    /// Longest time sent data may go unacknowledged (`tcp_user_timeout`; Linux only, ignored elsewhere).
    pub user_timeout: Option<Duration>,
}

impl Stream {
    /// The other end, as far as the kernel tells.
    ///
    /// # Errors
    /// A TCP socket that is not connected (any more) has no peer.
    pub fn peer(&self) -> io::Result<Peer> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().map(Peer::Tcp),
            Self::Unix(stream) => peer_process(stream),
        }
    }

    /// The socket's pending error, which reading it clears. A dialled connection that failed has one.
    ///
    /// # Errors
    /// Only when the socket itself cannot be asked.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Self::Tcp(stream) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
        }
    }

    /// Ends one or both directions. A peer that is gone already is not an error.
    ///
    /// # Errors
    /// What the system says, except that the socket is not connected.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let done = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        };
        match done {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            done => done,
        }
    }

    /// Switches TCP keepalive on with these values. Does nothing on a unix socket, whose peer cannot vanish
    /// unseen.
    ///
    /// # Errors
    /// Values the system refuses (a zero, or beyond its range).
    pub fn set_keepalive(&self, keepalive: Keepalive) -> io::Result<()> {
        let Self::Tcp(stream) = self else { return Ok(()) };
        let mut values = TcpKeepalive::new();
        if let Some(idle) = keepalive.idle {
            values = values.with_time(idle);
        }
        if let Some(interval) = keepalive.interval {
            values = values.with_interval(interval);
        }
        if let Some(probes) = keepalive.probes_max {
            values = values.with_retries(probes);
        }
        let socket = SockRef::from(stream);
        socket.set_tcp_keepalive(&values)?;
        #[cfg(target_os = "linux")]
        if keepalive.user_timeout.is_some() {
            socket.set_tcp_user_timeout(keepalive.user_timeout)?;
        }
        Ok(())
    }

    /// Whether this is a unix socket. `sslmode`s do not apply to those: libpq never asks for TLS on one.
    pub fn is_unix(&self) -> bool {
        matches!(self, Self::Unix(_))
    }
}

#[cfg(target_os = "linux")]
fn peer_process(stream: &UnixStream) -> io::Result<Peer> {
    let credentials = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(Peer::Unix { uid: Some(credentials.uid.as_raw()), pid: Some(credentials.pid.as_raw_nonzero().get()) })
}

#[cfg(not(target_os = "linux"))]
fn peer_process(_: &UnixStream) -> io::Result<Peer> {
    Ok(Peer::Unix { uid: None, pid: None })
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Self::Tcp(stream)
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        Self::Unix(stream)
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Straight to the kernel: libc's functions are cancellation points, which costs a multi-threaded
        // process some percent of a small message.
        let received = match self {
            Self::Tcp(stream) => rustix::net::recv(stream, into, RecvFlags::empty()),
            Self::Unix(stream) => rustix::net::recv(stream, into, RecvFlags::empty()),
        };
        received.map(|(count, _)| count).map_err(io::Error::from)
    }

    fn read_vectored(&mut self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read_vectored(into),
            Self::Unix(stream) => stream.read_vectored(into),
        }
    }
}

/// A connection that is gone is an error and not a signal.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
/// Apple's systems have no such flag: std's sockets have their own setting for it (SO_NOSIGPIPE).
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = match self {
            Self::Tcp(stream) => rustix::net::send(stream, bytes, NO_SIGNAL),
            Self::Unix(stream) => rustix::net::send(stream, bytes, NO_SIGNAL),
        };
        sent.map_err(io::Error::from)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write_vectored(pieces),
            Self::Unix(stream) => stream.write_vectored(pieces),
        }
    }

    /// Nothing is held back here.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Source for Stream {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.register(registry, token, interests),
            Self::Unix(stream) => stream.register(registry, token, interests),
        }
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.reregister(registry, token, interests),
            Self::Unix(stream) => stream.reregister(registry, token, interests),
        }
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.deregister(registry),
            Self::Unix(stream) => stream.deregister(registry),
        }
    }
}
