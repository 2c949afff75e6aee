//! A socket that waits only when told to. What systems do differently is here and nowhere else.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use socket2::{SockRef, TcpKeepalive};

use crate::config::Keepalives;

/// A connection that is gone is an error and not a signal.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
/// Apple's systems have no such flag: std's sockets have their own setting for it (SO_NOSIGPIPE).
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// A connected socket.
#[doc(hidden)]
#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What a socket can do now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    pub(crate) readable: bool,
}

impl Socket {
    pub(crate) fn unix(path: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(name) = path.to_str().and_then(|path| path.strip_prefix('@')) {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            return UnixStream::connect_addr(&address).map(Self::Unix);
        }
        UnixStream::connect(path).map(Self::Unix)
    }

    pub(crate) fn tcp(stream: TcpStream, keepalives: &Keepalives) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        if keepalives.enabled {
            let mut values = TcpKeepalive::new();
            if let Some(idle) = keepalives.idle {
                values = values.with_time(idle);
            }
            if let Some(interval) = keepalives.interval {
                values = values.with_interval(interval);
            }
            if let Some(count) = keepalives.count {
                values = values.with_retries(count);
            }
            SockRef::from(&stream).set_tcp_keepalive(&values)?;
        }
        #[cfg(target_os = "linux")]
        if keepalives.user_timeout.is_some() {
            SockRef::from(&stream).set_tcp_user_timeout(keepalives.user_timeout)?;
        }
        Ok(Self::Tcp(stream))
    }

    /// Receives once into the spare capacity of `into`; 0 is the end of the stream. Without `wait` it is
    /// [`io::ErrorKind::WouldBlock`] when nothing is there.
    #[inline]
    pub fn receive(&self, into: &mut Vec<u8>, wait: bool) -> io::Result<usize> {
        let flags = if wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        loop {
            let received = match self {
                Self::Tcp(stream) => recv(stream, spare_capacity(into), flags),
                Self::Unix(stream) => recv(stream, spare_capacity(into), flags),
            };
            match received {
                Err(rustix::io::Errno::INTR) => {}
                received => return Ok(received.map(|(_, count)| count)?),
            }
        }
    }

    /// Sends what the system takes now; 0 when it takes nothing.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | NO_SIGNAL;
        loop {
            let sent = match self {
                Self::Tcp(stream) => send(stream, bytes, flags),
                Self::Unix(stream) => send(stream, bytes, flags),
            };
            match sent {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) if io::Error::from(error).kind() == io::ErrorKind::WouldBlock => return Ok(0),
                sent => return Ok(sent?),
            }
        }
    }

    /// For a caller's own poll.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }

    /// Waits until it can be read or, where asked, written. [`io::ErrorKind::TimedOut`] when neither is by then.
    pub(crate) fn wait(&self, write: bool, deadline: Option<Instant>) -> io::Result<Ready> {
        let interest = if write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let fd = self.fd();
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let timeout = left.map(timespec);
            let mut fds = [PollFd::from_borrowed_fd(fd, interest)];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) if left.is_some_and(|left| left.is_zero()) => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => {
                    let events = fds[0].revents();
                    return Ok(Ready { readable: events.intersects(!PollFlags::OUT) });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The same socket for what reads and writes and never waits.
    pub(crate) fn unwaiting(&self) -> Unwaiting<'_> {
        Unwaiting(self)
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// A socket that never waits.
pub(crate) struct Unwaiting<'s>(&'s Socket);

impl Read for Unwaiting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let received = match self.0 {
            Socket::Tcp(stream) => recv(stream, into, RecvFlags::DONTWAIT),
            Socket::Unix(stream) => recv(stream, into, RecvFlags::DONTWAIT),
        };
        Ok(received.map(|(count, _)| count)?)
    }
}

impl Write for Unwaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.send(bytes)? {
            0 if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
