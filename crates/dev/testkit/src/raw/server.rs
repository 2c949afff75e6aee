//! A fake server that runs a script of the test, so that it can send any bytes that a server might send.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, ensure};

use super::frame::{Frame, read_frame};
use crate::PATIENCE;

const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;
/// The longest start-up packet that the fake server accepts.
const STARTUP_BYTES_MAX: usize = 1 << 20;

/// A script. It runs once for each connection, on a thread of its own.
type Script = dyn Fn(&mut ServerConnection) -> Result<()> + Send + Sync;

/// A listening fake server. Dropping it stops the listening; each open connection ends when its script does.
#[derive(Debug)]
pub struct RawServer {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    accepted: Arc<AtomicUsize>,
    failures: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl RawServer {
    /// Listens on a free port of 127.0.0.1 and runs `script` for every connection. An error that a script
    /// returns is stored for [`RawServer::failures`], and its connection is closed.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start(
        script: impl Fn(&mut ServerConnection) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let address = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let accepted = Arc::new(AtomicUsize::new(0));
        let failures = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Script> = Arc::new(script);
        let (stop, count, failed) = (Arc::clone(&stopping), Arc::clone(&accepted), Arc::clone(&failures));
        let thread = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let number = count.fetch_add(1, Ordering::SeqCst);
                let (script, failed) = (Arc::clone(&script), Arc::clone(&failed));
                thread::spawn(move || {
                    let outcome = ServerConnection::new(stream, number).and_then(|mut it| script(&mut it));
                    if let (Err(error), Ok(mut failed)) = (outcome, failed.lock()) {
                        failed.push(format!("connection {number}: {error:#}"));
                    }
                });
            }
        });
        Ok(Self { address, stopping, accepted, failures, listener: Some(thread) })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it has accepted.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The errors of scripts so far.
    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().map(|list| list.clone()).unwrap_or_default()
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // One more connection wakes the listener up, so that it sees the flag.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

/// One connection to the fake server, for its script.
#[derive(Debug)]
pub struct ServerConnection {
    stream: TcpStream,
    /// How many connections came before this one.
    pub number: usize,
}

impl ServerConnection {
    fn new(stream: TcpStream, number: usize) -> Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, number })
    }

    /// Reads the start-up packet and returns its parameters. Requests for TLS and GSS before it are refused. `None` means that
    /// the packet was a CancelRequest.
    ///
    /// # Errors
    /// When the peer sends no such packet.
    pub fn startup(&mut self) -> Result<Option<Vec<(String, String)>>> {
        loop {
            let mut length = [0_u8; 4];
            self.stream.read_exact(&mut length).context("no start-up packet")?;
            let length = usize::try_from(u32::from_be_bytes(length))?;
            ensure!((8..=STARTUP_BYTES_MAX).contains(&length), "start-up packet of length {length}");
            let mut body = vec![0; length - 4];
            self.stream.read_exact(&mut body).context("a start-up packet is cut short")?;
            let (code, rest) = body.split_first_chunk::<4>().context("a start-up packet is short")?;
            match u32::from_be_bytes(*code) {
                SSL_REQUEST | GSS_REQUEST => self.send(b"N")?,
                CANCEL_REQUEST => return Ok(None),
                _ => {
                    let mut texts = rest.split(|byte| *byte == 0).map(String::from_utf8_lossy);
                    let mut pairs = Vec::new();
                    while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
                        if !name.is_empty() {
                            pairs.push((name.into_owned(), value.into_owned()));
                        }
                    }
                    return Ok(Some(pairs));
                }
            }
        }
    }

    /// Start-up and a login without a password, up to and including ReadyForQuery. It reports the parameters of a server of
    /// version 15 on which poolers depend. A cancel request is an error.
    ///
    /// # Errors
    /// As [`ServerConnection::startup`].
    pub fn handshake(&mut self) -> Result<Vec<(String, String)>> {
        let parameters = self.startup()?.context("a cancel request came")?;
        let mut bytes = frame(b'R', &0_u32.to_be_bytes());
        let reported = [
            ("server_version", "15.0"),
            ("server_encoding", "UTF8"),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO, MDY"),
            ("IntervalStyle", "postgres"),
            ("TimeZone", "UTC"),
            ("integer_datetimes", "on"),
            ("standard_conforming_strings", "on"),
            ("application_name", ""),
        ];
        for (name, value) in reported {
            bytes.extend(frame(b'S', format!("{name}\0{value}\0").as_bytes()));
        }
        let number = u32::try_from(self.number)?;
        let key = [(1000 + number).to_be_bytes(), (7 + number).to_be_bytes()].concat();
        bytes.extend(frame(b'K', &key));
        bytes.extend(frame(b'Z', b"I"));
        self.send(&bytes)?;
        Ok(parameters)
    }

    /// Reads the next message.
    ///
    /// # Errors
    /// At the end of the stream and when the deadline passes.
    pub fn frame(&mut self) -> Result<Frame> {
        read_frame(&mut self.stream)
    }

    /// Sends bytes unchanged.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).context("the peer takes no more bytes")
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn send_frame(&mut self, tag: u8, body: &[u8]) -> Result<()> {
        self.send(&frame(tag, body))
    }

    /// Answers a query with one text column and one row, and ReadyForQuery.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn answer(&mut self, value: &str) -> Result<()> {
        self.answer_and(value, b"")
    }

    /// As [`ServerConnection::answer`], with `more` right after it, in one piece.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn answer_and(&mut self, value: &str, more: &[u8]) -> Result<()> {
        // One column `v`: no table, no attribute, type text (25) of any length, no modifier, text format.
        let mut bytes = frame(b'T', b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
        let mut row = vec![0, 1];
        row.extend(u32::try_from(value.len())?.to_be_bytes());
        row.extend(value.as_bytes());
        bytes.extend(frame(b'D', &row));
        bytes.extend(frame(b'C', b"SELECT 1\0"));
        bytes.extend(frame(b'Z', b"I"));
        bytes.extend(more);
        self.send(&bytes)
    }

    /// Sends the first `count` bytes of `bytes` and closes both directions.
    ///
    /// # Errors
    /// When the peer has closed.
    pub fn cut_after(&mut self, bytes: &[u8], count: usize) -> Result<()> {
        self.send(bytes.get(..count).unwrap_or(bytes))?;
        self.stream.shutdown(Shutdown::Both).context("the connection is gone already")
    }
}

fn frame(tag: u8, body: &[u8]) -> Vec<u8> {
    Frame { tag, body: body.to_vec() }.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::RawClient;
    use super::*;

    #[test]
    fn a_raw_client_and_a_raw_server_understand_each_other() {
        let server = RawServer::start(|peer| {
            let parameters = peer.handshake()?;
            ensure!(parameters.contains(&("database".into(), "db".into())), "{parameters:?}");
            let query = peer.frame()?;
            ensure!(query.text() == "select 'x'", "{query:?}");
            peer.answer("x")?;
            peer.frame()?;
            peer.cut_after(b"D\0\0\0\x10", 3)
        })
        .expect("a server");
        let mut client = RawClient::login(server.address(), "u", "", "db").expect("a login");
        assert_eq!(client.parameter("TimeZone"), Some("UTC"));
        assert_eq!(client.sql("select 'x'").expect("rows"), ["x"]);
        assert!(client.sql("select 'y'").is_err());
        assert_eq!(server.failures(), Vec::<String>::new());
        assert_eq!(server.accepted(), 1);
    }
}
