//! A connection that has logged in, for who runs the protocol by itself: the C library, which also must not wait.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;

use trunkline_session::frontend::Connection;

use crate::cancel::CancelToken;
use crate::config::Config;
use crate::connect;
use crate::error::Error;
use crate::transport::{self, Transport};

/// The bytes' way to a server and back, through TLS where there is any.
#[derive(Debug)]
pub struct Wire {
    transport: Transport,
    cancel: CancelToken,
}

/// A login that succeeded.
#[derive(Debug)]
pub struct Login {
    /// The protocol's state.
    pub connection: Connection,
    /// What was received after the login.
    pub input: Vec<u8>,
    /// What carries the bytes.
    pub wire: Wire,
}

impl Wire {
    /// Connects and logs in, as [`Client::connect_to`](crate::Client::connect_to).
    ///
    /// # Errors
    /// When no host will do; the error says of each why not.
    pub fn connect(config: &Config) -> Result<Login, Error> {
        let reached = connect::connect(config)?;
        let (connection, transport, input) = reached.link.into_parts();
        let mut request = Vec::new();
        connection.cancel_request(&mut request);
        let cancel =
            CancelToken { config: config.clone(), place: reached.place, host: reached.host, request };
        Ok(Login { connection, input, wire: Self { transport, cancel } })
    }

    /// What cancels what this connection runs.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// For a caller's own poll.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.transport.fd()
    }

    /// Sends what the system takes now, and says how much of `bytes` is taken care of; 0: nothing.
    ///
    /// # Errors
    /// The system's.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.transport.send(bytes)
    }

    /// Sends what TLS holds back. Whether some of it is left.
    ///
    /// # Errors
    /// The system's.
    pub fn flush(&mut self) -> io::Result<bool> {
        self.transport.flush()?;
        Ok(self.transport.holds_back())
    }

    /// Waits for the server's next bytes and appends them; 0 is the end. With `write` it also returns, with `None`, when more
    /// can be sent.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::TimedOut`] when the deadline has passed.
    pub fn receive(
        &mut self,
        into: &mut Vec<u8>,
        write: bool,
        deadline: Option<Instant>,
    ) -> io::Result<Option<usize>> {
        self.transport.receive(into, write, deadline)
    }

    /// Appends what is there of the server's bytes; `None` when nothing is, 0 at the end.
    ///
    /// # Errors
    /// The system's.
    pub fn receive_now(&mut self, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
        transport::make_room(into);
        self.transport.receive_now(into)
    }
}
