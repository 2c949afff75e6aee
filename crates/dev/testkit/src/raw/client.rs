//! A client that sends any bytes and returns every message that it receives.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::frame::{Frame, read_frame};
use super::login::Login;
use super::messages::{Messages, cancel_request, startup};
use crate::PATIENCE;

/// An ErrorResponse that ended a login or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// SQLSTATE, such as `42P01`.
    pub sqlstate: String,
    /// Its message.
    pub message: String,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.sqlstate)
    }
}

impl std::error::Error for ServerError {}

impl ServerError {
    fn from_frame(frame: &Frame) -> Self {
        let field = |code| frame.field(code).unwrap_or_default();
        Self { sqlstate: field(b'C'), message: field(b'M') }
    }
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A protocol client over TCP or a unix socket. Every read has a deadline.
#[derive(Debug)]
pub struct RawClient {
    stream: Stream,
    backend: Option<(u32, Vec<u8>)>,
    parameters: Vec<(String, String)>,
}

impl RawClient {
    /// Connects and sends nothing.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)
            .with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Self::over(Stream::Tcp(stream), PATIENCE)
    }

    /// Connects to a unix socket by its path.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn connect_unix(path: &Path) -> Result<Self> {
        let stream =
            UnixStream::connect(path).with_context(|| format!("cannot connect to {}", path.display()))?;
        Self::over(Stream::Unix(stream), PATIENCE)
    }

    /// Connects, and logs in by the method that the server asks for.
    ///
    /// # Errors
    /// A [`ServerError`] when the server refuses.
    pub fn login(address: SocketAddr, user: &str, password: &str, database: &str) -> Result<Self> {
        let mut client = Self::connect(address)?;
        client.authenticate(password, &[("user", user), ("database", database)])?;
        Ok(client)
    }

    fn over(stream: Stream, limit: Duration) -> Result<Self> {
        let mut client = Self { stream, backend: None, parameters: Vec::new() };
        client.set_read_limit(limit)?;
        Ok(client)
    }

    /// Sends a start-up packet with `parameters` and goes through the login up to ReadyForQuery.
    ///
    /// # Errors
    /// A [`ServerError`] when the server refuses.
    pub fn authenticate(&mut self, password: &str, parameters: &[(&str, &str)]) -> Result<()> {
        self.send(&startup(parameters))?;
        let user = parameters.iter().find(|(name, _)| *name == "user").map_or("", |(_, user)| user);
        let mut login = Login::new(user, password);
        loop {
            let frame = self.frame()?;
            match frame.tag {
                b'R' => {
                    if let Some(answer) = login.answer(&frame)? {
                        self.send(answer.bytes())?;
                    }
                }
                b'K' => {
                    let key = frame.body.split_first_chunk::<4>().context("BackendKeyData is short")?;
                    self.backend = Some((u32::from_be_bytes(*key.0), key.1.to_vec()));
                }
                b'Z' => return Ok(()),
                b'E' => return Err(ServerError::from_frame(&frame).into()),
                b'S' | b'N' | b'v' => {}
                other => bail!("message {:?} in a login", char::from(other)),
            }
        }
    }

    /// Sends bytes unchanged.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).context("the peer takes no more bytes")
    }

    /// Sends messages.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn send_messages(&mut self, messages: &Messages) -> Result<()> {
        self.send(messages.bytes())
    }

    /// Reads the next message. The value of a ParameterStatus is remembered (see [`RawClient::parameter`]).
    ///
    /// # Errors
    /// At the end of the stream and when the deadline passes.
    pub fn frame(&mut self) -> Result<Frame> {
        let frame = read_frame(self)?;
        if frame.tag == b'S' {
            let mut parts = frame.body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
            let name = parts.next().unwrap_or_default().into_owned();
            let value = parts.next().unwrap_or_default().into_owned();
            self.parameters.retain(|(known, _)| *known != name);
            self.parameters.push((name, value));
        }
        Ok(frame)
    }

    /// Reads up to and including ReadyForQuery, or up to the end of the stream if that comes first after
    /// at least one message.
    ///
    /// # Errors
    /// When the stream ends without a message, and when the deadline passes.
    pub fn until_ready(&mut self) -> Result<Vec<Frame>> {
        let mut frames = vec![self.frame()?];
        while frames.last().is_some_and(|frame| frame.tag != b'Z') {
            match self.frame() {
                Ok(frame) => frames.push(frame),
                Err(error) if is_end(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(frames)
    }

    /// Sends messages that end in a Sync or Query and reads all answers to the first ReadyForQuery.
    ///
    /// # Errors
    /// As [`RawClient::until_ready`].
    pub fn turn(&mut self, messages: &Messages) -> Result<Vec<Frame>> {
        self.send_messages(messages)?;
        self.until_ready()
    }

    /// Runs SQL by the simple protocol. Rows come as `psql -At` prints them: columns joined by `|`.
    ///
    /// # Errors
    /// A [`ServerError`] when the server answers with one.
    pub fn sql(&mut self, sql: &str) -> Result<Vec<String>> {
        let frames = self.turn(&Messages::new().query(sql))?;
        rows(&frames)
    }

    /// Runs SQL by the extended protocol, as an unnamed statement.
    ///
    /// # Errors
    /// A [`ServerError`] when the server answers with one.
    pub fn extended(&mut self, sql: &str, values: &[Option<&str>]) -> Result<Vec<String>> {
        let frames = self.turn(&Messages::new().extended(sql, values))?;
        rows(&frames)
    }

    /// Process id and secret that the server gave at login.
    pub fn backend_key(&self) -> Option<(u32, &[u8])> {
        self.backend.as_ref().map(|(pid, secret)| (*pid, secret.as_slice()))
    }

    /// The value last reported for a parameter such as `TimeZone`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Sends a cancel request for this client's query to the server at `address`, and waits until the server has handled it (it
    /// then closes the connection).
    ///
    /// # Errors
    /// When the login gave no key, or nobody listens.
    pub fn cancel(&self, address: SocketAddr) -> Result<()> {
        let (pid, secret) = self.backend_key().context("no BackendKeyData came at login")?;
        let mut second = Self::connect(address)?;
        second.send(&cancel_request(pid, secret))?;
        second.expect_end()
    }

    /// Waits until the peer closes without sending another byte. A reset counts as a close.
    ///
    /// # Errors
    /// When a byte arrives, or neither happens within the deadline.
    pub fn expect_end(&mut self) -> Result<()> {
        let mut byte = [0_u8; 1];
        match self.read(&mut byte) {
            Ok(0) => Ok(()),
            Ok(_) => bail!("the peer sent byte {:#04x} instead of closing", byte[0]),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(error).context("the peer does not close"),
        }
    }

    /// How long reads may take from now on.
    ///
    /// # Errors
    /// When `limit` is zero.
    pub fn set_read_limit(&mut self, limit: Duration) -> Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(limit))?,
            Stream::Unix(stream) => stream.set_read_timeout(Some(limit))?,
        }
        Ok(())
    }

    /// How long writes may take from now on.
    ///
    /// # Errors
    /// When `limit` is zero.
    pub fn set_write_limit(&mut self, limit: Duration) -> Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.set_write_timeout(Some(limit))?,
            Stream::Unix(stream) => stream.set_write_timeout(Some(limit))?,
        }
        Ok(())
    }

    /// A second handle of the same connection, to read from one thread while another writes.
    ///
    /// # Errors
    /// When the system has no more descriptors.
    pub fn second_handle(&self) -> Result<Self> {
        let stream = match &self.stream {
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
        };
        Ok(Self { stream, backend: self.backend.clone(), parameters: self.parameters.clone() })
    }

    /// The connection itself, for a test that reads and writes in its own way.
    ///
    /// # Errors
    /// When it goes over a unix socket.
    pub fn into_tcp(self) -> Result<TcpStream> {
        match self.stream {
            Stream::Tcp(stream) => Ok(stream),
            Stream::Unix(_) => bail!("not a TCP connection"),
        }
    }

    /// Closes both directions at once.
    ///
    /// # Errors
    /// When the connection is gone already.
    pub fn hang_up(&self) -> Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both)?,
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both)?,
        }
        Ok(())
    }

    /// Closes the sending direction only: the peer reads the end of the stream.
    ///
    /// # Errors
    /// When the connection is gone already.
    pub fn close_write(&self) -> Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write)?,
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write)?,
        }
        Ok(())
    }

    /// Sends Terminate and closes the connection.
    ///
    /// # Errors
    /// When the connection is gone already.
    pub fn terminate(mut self) -> Result<()> {
        self.send_messages(&Messages::new().terminate())
    }
}

impl Read for RawClient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for RawClient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The rows among `frames`, or the first error.
fn rows(frames: &[Frame]) -> Result<Vec<String>> {
    if let Some(error) = frames.iter().find(|frame| frame.tag == b'E') {
        return Err(ServerError::from_frame(error).into());
    }
    ensure!(frames.last().is_some_and(|frame| frame.tag == b'Z'), "the connection ended within an answer");
    let rows = frames.iter().filter(|frame| frame.tag == b'D').map(|row| {
        let columns = row.columns()?.into_iter();
        let texts = columns.map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned());
        Ok(texts.collect::<Vec<_>>().join("|"))
    });
    rows.collect()
}

/// Whether reading failed because the peer closed.
fn is_end(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset))
}
