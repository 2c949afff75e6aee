//! A storm of logins: thousands of clients that log in by SCRAM at once.
//!
//! It uses one thread, mio's epoll, and the login code that the proxy itself uses for servers. The SCRAM keys are derived once, so
//! that the storm costs this process little: the benchmark measures how long other clients of the proxy wait meanwhile.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use trunkline_session::authentication::Password;
use trunkline_session::authentication::scram::ScramKeys;
use trunkline_session::frontend::{Credential, Login, LoginEvent, ServerLogin};
use trunkline_testkit::cluster::{APP_USER, DATABASE, PASSWORD};

/// How long all logins together may take.
const STORM_LIMIT: Duration = Duration::from_secs(120);
/// Events taken from the kernel at a time.
const EVENTS: usize = 1024;

/// One client of the storm.
struct Stranger {
    stream: TcpStream,
    login: Login,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    greeted: bool,
}

/// Logs `count` clients in, all at once, and keeps each until all are logged in. Returns the time that this took.
///
/// # Errors
/// When one is refused, or the proxy takes longer than two minutes.
pub(crate) fn storm(address: SocketAddr, count: usize, keys: &Arc<ScramKeys>) -> Result<Duration> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(EVENTS);
    let mut buffer = vec![0; 16 * 1024];
    let login = Arc::new(server_login(Some(Arc::clone(keys))));
    let began = Instant::now();
    let mut strangers = Vec::with_capacity(count);
    for n in 0..count {
        let mut stream = TcpStream::connect(address)?;
        poll.registry().register(&mut stream, Token(n), Interest::READABLE | Interest::WRITABLE)?;
        let login = Login::new(Arc::clone(&login), &mut nonce);
        strangers.push(Stranger { stream, login, unsent: Vec::new(), unread: Vec::new(), greeted: false });
    }
    let mut outside = count;
    while outside > 0 {
        let left = STORM_LIMIT.checked_sub(began.elapsed());
        let left = left.with_context(|| format!("{outside} of {count} are not in after {STORM_LIMIT:?}"))?;
        match poll.poll(&mut events, Some(left)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            let Some(stranger) = strangers.get_mut(event.token().0) else { continue };
            if stranger.go_on(&mut buffer).with_context(|| format!("client {}", event.token().0))? {
                outside -= 1;
            }
        }
    }
    Ok(began.elapsed())
}

/// Logs one client in, which then leaves, and returns its keys, which all other clients use.
///
/// # Errors
/// When it is refused.
pub(crate) fn keys(address: SocketAddr) -> Result<Arc<ScramKeys>> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_read_timeout(Some(STORM_LIMIT))?;
    let mut login = Login::new(Arc::new(server_login(None)), &mut nonce);
    let (mut out, mut unread, mut buffer) = (Vec::new(), Vec::new(), [0; 4096]);
    login.handle_connected(&mut out)?;
    loop {
        stream.write_all(&out)?;
        out.clear();
        let count = stream.read(&mut buffer)?;
        anyhow::ensure!(count > 0, "closed within the login");
        unread.extend_from_slice(&buffer[..count]);
        let consumed = login.handle_bytes(&unread, &mut out)?;
        unread.drain(..consumed);
        if let Some(LoginEvent::Ready(ready)) = login.poll() {
            return ready.scram_keys.context("the proxy did not ask for SCRAM");
        }
    }
}

impl Stranger {
    /// Continues the login as far as possible. True when the client has just logged in.
    fn go_on(&mut self, buffer: &mut [u8]) -> Result<bool> {
        if !self.greeted {
            if let Some(error) = self.stream.take_error()? {
                return Err(error.into());
            }
            if self.stream.peer_addr().is_err() {
                return Ok(false);
            }
            self.stream.set_nodelay(true)?;
            self.login.handle_connected(&mut self.unsent)?;
            self.greeted = true;
        }
        loop {
            self.send()?;
            let count = match self.stream.read(buffer) {
                Ok(0) => bail!("closed within the login"),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            self.unread.extend_from_slice(&buffer[..count]);
            let consumed = self.login.handle_bytes(&self.unread, &mut self.unsent)?;
            self.unread.drain(..consumed);
            if self.login.poll().is_some() {
                return Ok(true);
            }
        }
    }

    fn send(&mut self) -> Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn server_login(cached: Option<Arc<ScramKeys>>) -> ServerLogin {
    let mut login = ServerLogin::new(APP_USER, DATABASE);
    login.credential = Credential::Password { password: Password::new(PASSWORD), cached };
    login
}

/// Makes a different nonce each time. It need not be hard to guess.
fn nonce(bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(8) {
        let random = RandomState::new().build_hasher().finish().to_ne_bytes();
        piece.copy_from_slice(&random[..piece.len()]);
    }
}
