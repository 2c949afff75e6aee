//! Addresses of servers, and connecting to them.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use mio::net::{TcpStream, UnixStream};

use crate::stream::Stream;

/// Starts a TCP connection. When the poll reports the stream writable, the connection is complete or has failed:
/// [`finish_connect`] says which.
///
/// # Errors
/// Failures that the system reports at once: no route, no free local port or file descriptor.
pub fn tcp(address: SocketAddr) -> io::Result<Stream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(Stream::Tcp(stream))
}

/// Connects to a unix socket. When this returns, the connection is complete: the kernel has put it into the
/// listener's backlog.
///
/// A path that begins with `@` is a name in Linux's abstract namespace.
///
/// # Errors
/// - [`io::ErrorKind::NotFound`], [`io::ErrorKind::ConnectionRefused`]: nobody listens there.
/// - [`io::ErrorKind::WouldBlock`]: the listener's backlog is full; try again a little later.
pub fn unix(path: &Path) -> io::Result<Stream> {
    use std::os::unix::ffi::OsStrExt;
    let stream = match path.as_os_str().as_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt;
            UnixStream::connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)?
        }
        #[cfg(not(target_os = "linux"))]
        Some(_) => {
            let message = format!("{}: only Linux has abstract unix sockets", path.display());
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        None => UnixStream::connect(path)?,
    };
    Ok(Stream::Unix(stream))
}

/// Whether a started connection is complete: `true` if it is, `false` while it is still connecting.
///
/// # Errors
/// The connection failed: it was refused, is unreachable, or timed out.
pub fn finish_connect(stream: &Stream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    let peer = match stream {
        Stream::Tcp(stream) => stream.peer_addr().map(drop),
        Stream::Unix(stream) => stream.peer_addr().map(drop),
    };
    match peer {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where a server listens. The two kinds are distinguished as libpq does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ServerAddress {
    /// A host name or a literal IP address.
    Tcp {
        /// The name or address, without brackets.
        host: Box<str>,
        /// The TCP port.
        port: u16,
    },
    /// A directory with unix sockets in it.
    Unix {
        /// The directory, or `@` and a name for Linux's abstract namespace.
        dir: PathBuf,
        /// The number in the socket's name.
        port: u16,
    },
}

impl ServerAddress {
    /// Follows libpq's rule: a host that begins with `/` or `@` is a directory of unix sockets. Brackets around an
    /// IPv6 address, as in a URI, are removed.
    pub fn new(host: &str, port: u16) -> Self {
        if host.starts_with(['/', '@']) {
            return Self::Unix { dir: PathBuf::from(host), port };
        }
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        Self::Tcp { host: bare.into(), port }
    }

    /// The socket's file, `<dir>/.s.PGSQL.<port>`; `None` for TCP.
    pub fn socket_path(&self) -> Option<PathBuf> {
        match self {
            Self::Tcp { .. } => None,
            Self::Unix { dir, port } => Some(dir.join(format!(".s.PGSQL.{port}"))),
        }
    }

    /// The port. A unix socket has it in its name.
    pub fn port(&self) -> u16 {
        match self {
            Self::Tcp { port, .. } | Self::Unix { port, .. } => *port,
        }
    }
}

impl fmt::Display for ServerAddress {
    /// `db.example:5432`, `[::1]:5432`, `/run/postgresql/.s.PGSQL.5432`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix { dir, port } => write!(f, "{}/.s.PGSQL.{port}", dir.display()),
        }
    }
}
