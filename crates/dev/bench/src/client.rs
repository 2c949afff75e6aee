//! A raw client: it logs in without a password, sends queries, and discards the answers as fast as it can.
//!
//! It uses std's blocking sockets, because it only makes load and is not measured itself.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// How long an answer may take. After that, the benchmark fails instead of hanging.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// The user of every benchmark: the testkit's user that needs no password.
pub(crate) const USER: &str = trunkline_testkit::cluster::TRUSTED_USER;
/// The database of every benchmark.
pub(crate) const DATABASE: &str = trunkline_testkit::cluster::DATABASE;

/// A logged-in connection.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
}

impl Client {
    /// Connects and logs in.
    ///
    /// # Errors
    /// When nothing listens, or the peer asks for a password or refuses the login.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        let mut client = Self { stream };
        client.stream.write_all(&startup())?;
        client.skip_answer(&mut [0; 1024], |_| Ok(()))?;
        Ok(client)
    }

    /// Sends a simple query and discards its answer, reading into `buffer`. Returns the answer's size in bytes.
    ///
    /// # Errors
    /// When the server answers with an error, or the connection breaks.
    pub(crate) fn query(&mut self, sql: &str, buffer: &mut [u8]) -> Result<u64> {
        self.send(sql)?;
        self.skip_answer(buffer, |_| Ok(()))
    }

    /// Sends a simple query. [`Client::skip_answer`] must read its answer.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn send(&mut self, sql: &str) -> Result<()> {
        Ok(self.stream.write_all(&simple_query(sql))?)
    }

    /// Sends Terminate and closes the connection.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn terminate(mut self) -> Result<()> {
        Ok(self.stream.write_all(b"X\0\0\0\x04")?)
    }

    /// Reads an answer up to its ReadyForQuery and returns its size in bytes. `after_read` is called with the bytes so
    /// far after each read; an error from it ends the reading early, and is returned.
    ///
    /// # Errors
    /// As [`Client::query`].
    pub(crate) fn skip_answer(
        &mut self,
        buffer: &mut [u8],
        mut after_read: impl FnMut(u64) -> Result<()>,
    ) -> Result<u64> {
        let mut answer = Answer::default();
        let mut bytes = 0;
        while !answer.ready {
            let count = self.stream.read(buffer).context("no answer")?;
            if count == 0 {
                bail!("the connection was closed in the middle of an answer");
            }
            answer.take(&buffer[..count])?;
            bytes += count as u64;
            after_read(bytes)?;
        }
        Ok(bytes)
    }
}

/// The startup message: protocol 3.0, user and database.
fn startup() -> Vec<u8> {
    let mut message = vec![0, 0, 0, 0, 0, 3, 0, 0];
    for text in ["user", USER, "database", DATABASE, ""] {
        message.extend_from_slice(text.as_bytes());
        message.push(0);
    }
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    message[..4].copy_from_slice(&length.to_be_bytes());
    message
}

fn simple_query(sql: &str) -> Vec<u8> {
    let length = u32::try_from(sql.len() + 5).unwrap_or(u32::MAX);
    let mut message = vec![b'Q'];
    message.extend_from_slice(&length.to_be_bytes());
    message.extend_from_slice(sql.as_bytes());
    message.push(0);
    message
}

/// Finds the messages in a stream of bytes up to ReadyForQuery, wherever reads cut the stream.
#[derive(Debug, Default)]
struct Answer {
    /// The part of the current message's header that has arrived.
    header: [u8; 5],
    header_bytes: usize,
    /// How many bytes of its body are still to come.
    body: usize,
    /// The beginning of an ErrorResponse's body, for the error message.
    error: Vec<u8>,
    /// ReadyForQuery has come.
    ready: bool,
}

impl Answer {
    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.header_bytes < 5 {
                self.header[self.header_bytes] = bytes[0];
                self.header_bytes += 1;
                bytes = &bytes[1..];
                if self.header_bytes == 5 {
                    let [_, length @ ..] = self.header;
                    let length = u32::from_be_bytes(length) as usize;
                    self.body = length.checked_sub(4).context("a message shorter than its length")?;
                }
            } else {
                let count = self.body.min(bytes.len());
                if self.header[0] == b'E' && self.error.len() < 200 {
                    self.error.extend_from_slice(&bytes[..count]);
                }
                self.body -= count;
                bytes = &bytes[count..];
            }
            if self.header_bytes == 5 && self.body == 0 {
                self.end_of_message()?;
            }
        }
        Ok(())
    }

    fn end_of_message(&mut self) -> Result<()> {
        match self.header[0] {
            b'E' => bail!("the server says: {}", String::from_utf8_lossy(&self.error).replace('\0', " ")),
            b'Z' => self.ready = true,
            _ => {}
        }
        self.header_bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"D\0\0\0\x08abcdC\0\0\0\x0bCOPY 1\0Z\0\0\0\x05I";

    #[test]
    fn an_answer_ends_at_ready_for_query_wherever_it_is_cut() {
        for cut in 0..ANSWER.len() {
            let mut answer = Answer::default();
            answer.take(&ANSWER[..cut]).expect("well formed");
            assert!(!answer.ready, "cut at {cut}");
            answer.take(&ANSWER[cut..]).expect("well formed");
            assert!(answer.ready, "cut at {cut}");
        }
    }

    #[test]
    fn errors_and_nonsense_are_reported() {
        let error = Answer::default().take(b"E\0\0\0\x0cSFATAL\0\0").expect_err("an error");
        assert!(error.to_string().contains("FATAL"), "{error}");
        assert!(Answer::default().take(b"D\0\0\0\x03").is_err());
    }

    #[test]
    fn messages_carry_their_length() {
        assert_eq!(simple_query("ab"), b"Q\0\0\0\x07ab\0");
        let startup = startup();
        assert_eq!(startup.len(), startup[3] as usize);
    }
}
