//! Two sessions over a loopback connection, and an event loop that drives both.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};
use trunkline_net::stream::Stream;
use trunkline_net::tls::{TlsError, TlsSession};
use trunkline_net::{dial, listen};

/// Ends a test that hangs. No test depends on its length.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct End {
    pub(crate) stream: Stream,
    pub(crate) session: TlsSession,
    pub(crate) received: Vec<u8>,
    pub(crate) to_send: Vec<u8>,
    /// Bytes of `to_send` that the session accepted.
    pub(crate) sent: usize,
    /// While set, this end does not read, like a slow reader.
    pub(crate) paused: bool,
    pub(crate) eof: bool,
    pub(crate) truncated: bool,
    pub(crate) error: Option<io::Error>,
}

impl End {
    fn new(stream: Stream, session: TlsSession) -> Self {
        Self {
            stream,
            session,
            received: Vec::new(),
            to_send: Vec::new(),
            sent: 0,
            paused: false,
            eof: false,
            truncated: false,
            error: None,
        }
    }

    /// The TCP socket of the stream, to set its options.
    pub(crate) fn socket(&self) -> socket2::SockRef<'_> {
        let Stream::Tcp(stream) = &self.stream else { panic!("the tests use TCP") };
        socket2::SockRef::from(stream)
    }

    /// Reads and writes what is possible now.
    pub(crate) fn step(&mut self) {
        if self.error.is_none() {
            self.error = self.try_step().err();
        }
    }

    fn try_step(&mut self) -> io::Result<()> {
        while !self.paused && !self.eof {
            let received = self.session.receive(&mut self.stream, &mut self.received)?;
            (self.eof, self.truncated) = (received.eof, received.truncated);
            if received.drained {
                break;
            }
        }
        self.session.flush(&mut self.stream)?;
        while self.sent < self.to_send.len() {
            match self.session.send(&mut self.stream, &self.to_send[self.sent..])? {
                0 => break,
                accepted => self.sent += accepted,
            }
        }
        Ok(())
    }

    pub(crate) fn tls_error(&self) -> Option<&TlsError> {
        self.error.as_ref().and_then(TlsError::of)
    }
}

pub(crate) struct Pair {
    poll: Poll,
    pub(crate) client: End,
    pub(crate) server: End,
}

impl Pair {
    pub(crate) fn new(client: TlsSession, server: TlsSession) -> Self {
        let (poll, dialled, accepted) = connected();
        Self { poll, client: End::new(dialled, client), server: End::new(accepted, server) }
    }

    /// Runs the handshake until both ends have finished or one has failed.
    pub(crate) fn handshake(&mut self) {
        self.run_until("the handshake to end", |pair| {
            let done = !pair.client.session.handshaking() && !pair.server.session.handshaking();
            done || pair.client.error.is_some() || pair.server.error.is_some()
        });
    }

    pub(crate) fn run_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let mut events = Events::with_capacity(8);
        loop {
            self.client.step();
            self.server.step();
            if done(self) {
                return;
            }
            self.poll.poll(&mut events, Some(PATIENCE)).expect("poll");
            assert!(
                !events.is_empty(),
                "waited in vain for {what}: {:?} {:?}",
                self.client.error,
                self.server.error
            );
        }
    }

    /// Sends a text in both directions.
    pub(crate) fn exchange(&mut self) {
        self.client.to_send.extend_from_slice(b"ping");
        self.server.to_send.extend_from_slice(b"pong");
        self.run_until("an exchange", |pair| {
            pair.client.received.ends_with(b"pong") && pair.server.received.ends_with(b"ping")
        });
    }
}

/// A loopback connection. Both ends are registered edge-triggered, for reading and writing.
pub(crate) fn connected() -> (Poll, Stream, Stream) {
    let mut poll = Poll::new().expect("poll");
    let mut listener =
        listen::tcp("127.0.0.1:0".parse().expect("an address"), 16, false).expect("a listener");
    poll.registry().register(&mut listener, Token(0), Interest::READABLE).expect("registered");
    let mut client = dial::tcp(listener.local_addr().expect("its address")).expect("dialled");
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut client, Token(1), both).expect("registered");
    let mut events = Events::with_capacity(8);
    let mut accepted = None;
    loop {
        if accepted.is_none() {
            accepted = listener.accept().ok();
        }
        if accepted.is_some() && dial::finish_connect(&client).expect("connects") {
            break;
        }
        poll.poll(&mut events, Some(PATIENCE)).expect("poll");
        assert!(!events.is_empty(), "no connection");
    }
    let mut server = Stream::from(accepted.expect("accepted").0);
    poll.registry().register(&mut server, Token(2), both).expect("registered");
    (poll, client, server)
}

/// Blocks until the stream can be read or has ended. It consumes no bytes and does not disturb the poll.
pub(crate) fn wait_readable(stream: &mut Stream) {
    let Stream::Tcp(stream) = stream else { panic!("the tests use TCP") };
    let socket = socket2::SockRef::from(&*stream);
    socket.set_nonblocking(false).expect("set");
    let mut byte = [MaybeUninit::uninit()];
    socket.peek(&mut byte).expect("readable or at its end");
    socket.set_nonblocking(true).expect("set");
}
