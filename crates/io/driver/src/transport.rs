//! Bytes to and from a server by a socket of the runtime's, encrypted or not.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::task::{Context, Poll, ready};

use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::Interest;
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use trunkline_driver_blocking::parts::Socket;
use trunkline_net::tls::TlsSession;

/// Room for one receive: a full socket buffer's worth, and no more than the processor's second cache holds.
const RECEIVE_BYTES: usize = 64 << 10;

/// A socket, perhaps with TLS over it.
#[derive(Debug)]
pub(crate) struct Transport {
    stream: Stream,
    tls: Option<Box<TlsSession>>,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    /// The runtime does not watch it.
    Apart(Socket),
    /// It could not be handed over.
    Lost,
}

/// Does the same with either kind of stream that the runtime watches.
macro_rules! either {
    ($stream:expr, $found:ident => $action:expr, $other:expr) => {
        match $stream {
            Stream::Tcp($found) => $action,
            #[cfg(unix)]
            Stream::Unix($found) => $action,
            Stream::Apart(_) | Stream::Lost => $other,
        }
    };
}

fn unwatched() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the runtime does not watch the socket")
}

impl Transport {
    /// Hands a connected socket to the runtime that this is called in.
    pub(crate) fn new(socket: Socket, tls: Option<Box<TlsSession>>) -> io::Result<Self> {
        match &socket {
            Socket::Tcp(stream) => stream.set_nonblocking(true)?,
            #[cfg(unix)]
            Socket::Unix(stream) => stream.set_nonblocking(true)?,
        }
        let mut transport = Self { stream: Stream::Apart(socket), tls };
        transport.watch()?;
        Ok(transport)
    }

    /// Has the runtime watch the socket again. Must be called in the runtime.
    pub(crate) fn watch(&mut self) -> io::Result<()> {
        self.stream = match std::mem::replace(&mut self.stream, Stream::Lost) {
            Stream::Apart(Socket::Tcp(stream)) => Stream::Tcp(TcpStream::from_std(stream)?),
            #[cfg(unix)]
            Stream::Apart(Socket::Unix(stream)) => Stream::Unix(UnixStream::from_std(stream)?),
            watched => watched,
        };
        Ok(())
    }

    /// Takes the socket from the runtime: nobody is woken by what happens to it.
    pub(crate) fn unwatch(&mut self) -> io::Result<()> {
        self.stream = match std::mem::replace(&mut self.stream, Stream::Lost) {
            Stream::Tcp(stream) => Stream::Apart(Socket::Tcp(stream.into_std()?)),
            #[cfg(unix)]
            Stream::Unix(stream) => Stream::Apart(Socket::Unix(stream.into_std()?)),
            apart => apart,
        };
        Ok(())
    }

    pub(crate) fn is_watched(&self) -> bool {
        !matches!(self.stream, Stream::Apart(_))
    }

    /// Appends what is there of a socket that is not watched; `None` when nothing is. 0 is the end.
    pub(crate) fn receive(&mut self, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
        into.reserve(RECEIVE_BYTES);
        let received = match (&mut self.tls, &self.stream) {
            (Some(session), stream) => {
                let received = session.receive(&mut Unwaiting(stream), into)?;
                return Ok((received.bytes > 0 || received.eof).then_some(received.bytes));
            }
            (None, Stream::Apart(socket)) => socket.receive(into, false),
            (None, _) => Err(unwatched()),
        };
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            received => received.map(Some),
        }
    }

    /// Appends what the server has sent; 0 is the end. Pending: the task is woken when there is something.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<usize>> {
        if into.capacity() - into.len() < RECEIVE_BYTES / 2 {
            into.reserve(RECEIVE_BYTES);
        }
        loop {
            ready!(
                either!(&self.stream, stream => stream.poll_read_ready(cx), Poll::Ready(Err(unwatched())))
            )?;
            let Some(session) = &mut self.tls else {
                match either!(&self.stream, stream => receive_once(stream, into), Err(unwatched()))? {
                    None => continue,
                    Some(count) => return Poll::Ready(Ok(count)),
                }
            };
            let received = session.receive(&mut Unwaiting(&self.stream), into)?;
            if received.bytes > 0 || received.eof {
                return Poll::Ready(Ok(received.bytes));
            }
        }
    }

    /// Sends what the system takes now. Pending: it takes nothing, and the task is woken when it does.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            if self.is_watched() {
                ready!(
                    either!(&self.stream, stream => stream.poll_write_ready(cx), Poll::Ready(Err(unwatched())))
                )?;
            }
            match self.send(bytes)? {
                0 if !bytes.is_empty() => self.watch()?,
                count => return Poll::Ready(Ok(count)),
            }
        }
    }

    /// Sends what the system takes now; 0 when it takes nothing. Nobody is woken.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(session) => session.send(&mut Unwaiting(&self.stream), bytes),
            None => match either!(&self.stream, stream => send_once(stream, bytes), match &self.stream {
                Stream::Apart(socket) => socket.send(bytes),
                _ => Err(unwatched()),
            }) {
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
                {
                    Ok(0)
                }
                sent => sent,
            },
        }
    }

    /// Sends what TLS holds back. Pending as [`poll_send`](Self::poll_send).
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(session) = &mut self.tls else { return Poll::Ready(Ok(())) };
        while session.wants_write() {
            ready!(either!(&self.stream, stream => stream.poll_write_ready(cx), return Poll::Ready(Ok(()))))?;
            session.flush(&mut Unwaiting(&self.stream))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Whether bytes that were taken care of have not left yet.
    pub(crate) fn holds_back(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| session.wants_write())
    }
}

/// What can be waited for by the runtime and used by the system's own calls: libc's are cancellation points, which costs a process
/// of several threads some percent of a small message.
trait Watched: AsFd {
    fn try_io<T>(&self, interest: Interest, io: impl FnOnce() -> io::Result<T>) -> io::Result<T>;
}

impl Watched for TcpStream {
    fn try_io<T>(&self, interest: Interest, io: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.try_io(interest, io)
    }
}

#[cfg(unix)]
impl Watched for UnixStream {
    fn try_io<T>(&self, interest: Interest, io: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.try_io(interest, io)
    }
}

/// Receives once; `None` when nothing is there.
fn receive_once(stream: &impl Watched, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let room = into.capacity() - into.len();
    let mut received = None;
    let outcome = stream.try_io(Interest::READABLE, || {
        let (_, count) = recv(stream, spare_capacity(into), RecvFlags::DONTWAIT)?;
        received = Some(count);
        // Less than there was room for is all that is there: the runtime need not be told by another call.
        if count > 0 && count < room { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    match outcome {
        Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Err(error)
        }
        _ => Ok(received),
    }
}

fn send_once(stream: &impl Watched, bytes: &[u8]) -> io::Result<usize> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    stream.try_io(Interest::WRITABLE, || Ok(send(stream, bytes, flags)?))
}

/// A stream that says `WouldBlock` instead of waiting; the runtime notes that it did.
struct Unwaiting<'s>(&'s Stream);

impl Read for Unwaiting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        either!(self.0, stream => stream.try_read(into), match self.0 {
            Stream::Apart(Socket::Tcp(stream)) => (&mut &*stream).read(into),
            #[cfg(unix)]
            Stream::Apart(Socket::Unix(stream)) => (&mut &*stream).read(into),
            _ => Err(unwatched()),
        })
    }
}

impl Write for Unwaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        either!(self.0, stream => stream.try_write(bytes), match self.0 {
            Stream::Apart(Socket::Tcp(stream)) => (&mut &*stream).write(bytes),
            #[cfg(unix)]
            Stream::Apart(Socket::Unix(stream)) => (&mut &*stream).write(bytes),
            _ => Err(unwatched()),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
