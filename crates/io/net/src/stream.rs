//! One connection of the event loop, over TCP or a unix socket.

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
    /// A TCP connection.
    Tcp(TcpStream),
    /// A connection over a unix socket.
    Unix(UnixStream),
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A TCP peer's address.
    Tcp(SocketAddr),
    /// A process on this machine. The ids come from the kernel, so `peer` authentication may rely on them.
    Unix {
        /// The peer's effective user id when it connected; `None` if the platform does not provide it.
        uid: Option<u32>,
        /// The peer's process id when it connected; `None` if the platform does not provide it.
        pid: Option<i32>,
    },
}

impl fmt::Display for Peer {
    /// The form for logs: `192.0.2.1:5000`, `[::1]:5000`, `unix(uid 1000)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix { uid: Some(uid), .. } => write!(f, "unix(uid {uid})"),
            Self::Unix { uid: None, .. } => f.write_str("unix"),
        }
    }
}

/// The settings of TCP keepalive, as libpq and PostgreSQL have them. `None` keeps the system's value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keepalive {
    /// The idle time before the first probe (`tcp_keepidle`).
    pub idle: Option<Duration>,
    /// Time between probes (`tcp_keepintvl`).
    pub interval: Option<Duration>,
    /// The number of unanswered probes after which the connection counts as dead (`tcp_keepcnt`).
    pub probes_max: Option<u32>,
    /// The longest time that sent data may stay unacknowledged (`tcp_user_timeout`; Linux only, ignored elsewhere).
    pub user_timeout: Option<Duration>,
}

impl Stream {
    /// The other end of the connection.
    ///
    /// # Errors
    /// The TCP socket is not connected, or no longer connected.
    pub fn peer(&self) -> io::Result<Peer> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().map(Peer::Tcp),
            Self::Unix(stream) => peer_process(stream),
        }
    }

    /// Takes the socket's pending error. A connection attempt that failed leaves one.
    ///
    /// # Errors
    /// The socket cannot be queried.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Self::Tcp(stream) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
        }
    }

    /// Ends one or both directions. It is not an error if the peer is already gone.
    ///
    /// # Errors
    /// The system's error, except "not connected".
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let result = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        }
    }

    /// Switches TCP keepalive on with these values. It does nothing on a unix socket, because the kernel always reports
    /// when the peer of a unix socket ends.
    ///
    /// # Errors
    /// The system refuses a value (zero, or out of its range).
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

    /// Whether this is a unix socket. `sslmode` has no effect on those: libpq never asks for TLS on a unix socket.
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
        // A direct system call: libc's functions are cancellation points, which costs a multi-threaded process some percent
        // of the time of a small message.
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

    /// Does nothing, because a stream has no buffer.
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
