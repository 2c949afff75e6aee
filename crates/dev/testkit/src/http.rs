//! A minimal HTTP client, which reads the proxy's page.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result};

use crate::PATIENCE;

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code, such as 200.
    pub status: u16,
    /// The body as text.
    pub body: String,
}

/// Reads `path` (such as `/metrics`) from `address`.
///
/// # Errors
/// When nothing answers, or the answer is not HTTP.
pub fn fetch(address: SocketAddr, path: &str) -> Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)
        .with_context(|| format!("cannot reach http://{address}{path}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text).with_context(|| format!("http://{address}{path} broke off"))?;
    let (head, body) = text.split_once("\r\n\r\n").context("the answer has no end of headers")?;
    let status = head.split_whitespace().nth(1).and_then(|code| code.parse().ok());
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { join_chunks(body)? } else { body.to_owned() };
    Ok(Answer { status: status.with_context(|| format!("no status in {head:?}"))?, body })
}

/// Puts a chunked body together.
fn join_chunks(mut rest: &str) -> Result<String> {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n").context("a chunk without its size")?;
        let size = usize::from_str_radix(size.trim(), 16).context("a chunk's size is no number")?;
        if size == 0 {
            return Ok(body);
        }
        body.push_str(after.get(..size).context("a chunk is cut short")?);
        rest = after.get(size..).and_then(|rest| rest.strip_prefix("\r\n")).context("a chunk has no end")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined() {
        assert_eq!(join_chunks("4\r\nWiki\r\n6\r\npedia.\r\n0\r\n\r\n").expect("joined"), "Wikipedia.");
        assert!(join_chunks("9\r\nWiki\r\n0\r\n\r\n").is_err());
    }
}
