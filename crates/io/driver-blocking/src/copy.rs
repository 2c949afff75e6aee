//! COPY, in both directions.

use std::io::{self, BufRead, Read, Write};

use trunkline_session::frontend::Event;
use trunkline_session::frontend::rows::Frames;
use trunkline_wire::Format;

use crate::client::Client;
use crate::error::{Error, Kind};
use crate::link::Step;

/// Copied data is sent in messages of about this many bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Data for a `COPY ... FROM STDIN`: write it, then [`finish`](Self::finish). Dropped before that, the copy is given up.
#[derive(Debug)]
pub struct CopyIn<'c> {
    client: &'c mut Client,
    format: Format,
    buffer: Vec<u8>,
    over: bool,
}

impl<'c> CopyIn<'c> {
    pub(crate) fn begin(client: &'c mut Client, text: &str) -> Result<Self, Error> {
        let begun = |event: &Event<'_>| match event {
            Event::CopyIn(response) => Some(response.format),
            _ => None,
        };
        let format = begin(client, text, begun, "the command is no COPY ... FROM STDIN")?;
        Ok(Self { client, format, buffer: Vec::new(), over: false })
    }

    /// Text or binary, as the command says.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.format == Format::BINARY
    }

    /// Sends the rest and waits for the server to have taken it all. How many rows that were.
    ///
    /// # Errors
    /// The server's error: nothing was copied then.
    pub fn finish(mut self) -> Result<u64, Error> {
        let sent = self.send();
        self.over = true;
        sent?;
        self.client.link.pipeline()?.copy_done();
        let mut rows = 0;
        end(self.client, &mut |event| {
            if let Event::Complete(complete) = event {
                rows = complete.rows().unwrap_or(0);
            }
            Ok(Step::Go)
        })?;
        Ok(rows)
    }

    fn send(&mut self) -> Result<(), Error> {
        if !self.buffer.is_empty() {
            let pipeline = self.client.link.pipeline()?;
            pipeline.copy_data(&self.buffer)?;
            self.buffer.clear();
        }
        self.client.link.send_while_reading(&mut |_| Ok(Step::Go))
    }

    fn give_up(&mut self) -> Result<(), Error> {
        self.over = true;
        if !self.client.is_closed() {
            self.client.link.pipeline()?.copy_fail(b"the copy was given up")?;
            end(self.client, &mut |_| Ok(Step::Go))?;
        }
        Ok(())
    }
}

impl Write for CopyIn<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let sent = self.send();
        if sent.is_err() && !self.over {
            // The server has refused the data: its turn is read to its end.
            let _ = self.give_up();
        }
        sent.map_err(io::Error::other)
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.give_up();
        }
    }
}

/// Data of a `COPY ... TO STDOUT`: read it to its end. Dropped before that, the rest is read and thrown away.
#[derive(Debug)]
pub struct CopyOut<'c> {
    client: &'c mut Client,
    format: Format,
    buffer: Vec<u8>,
    at: usize,
    over: bool,
}

impl<'c> CopyOut<'c> {
    pub(crate) fn begin(client: &'c mut Client, text: &str) -> Result<Self, Error> {
        let begun = |event: &Event<'_>| match event {
            Event::CopyOut(response) => Some(response.format),
            _ => None,
        };
        let format = begin(client, text, begun, "the command is no COPY ... TO STDOUT")?;
        Ok(Self { client, format, buffer: Vec::new(), at: 0, over: false })
    }

    /// Text or binary, as the command says.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.format == Format::BINARY
    }

    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.clear();
        self.at = 0;
        let buffer = &mut self.buffer;
        let mut done = false;
        self.client.link.drive(|event| match event {
            Event::CopyData { frames, .. } => {
                Frames::copied(frames).for_each(|data| buffer.extend_from_slice(data));
                Ok(if buffer.is_empty() { Step::Go } else { Step::Stop })
            }
            Event::Complete(_) => {
                done = true;
                Ok(Step::Stop)
            }
            _ => Ok(Step::Go),
        })?;
        if done {
            self.over = true;
            end(self.client, &mut |_| Ok(Step::Go))?;
        }
        Ok(())
    }
}

impl BufRead for CopyOut<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.buffer.len() && !self.over {
            let filled = self.fill();
            if filled.is_err() {
                // The error has ended its turn, except for a Sync.
                self.over = true;
                let _ = end(self.client, &mut |_| Ok(Step::Go));
            }
            filled.map_err(io::Error::other)?;
        }
        Ok(self.buffer.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.buffer.len());
    }
}

impl Read for CopyOut<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let found = self.fill_buf()?;
        let count = found.len().min(into.len());
        for (to, from) in into.iter_mut().zip(found) {
            *to = *from;
        }
        self.consume(count);
        Ok(count)
    }
}

impl Drop for CopyOut<'_> {
    fn drop(&mut self) {
        if !self.over {
            let _ = end(self.client, &mut |_| Ok(Step::Go));
        }
    }
}

/// Sends a COPY without its Sync, which the server's COPY would swallow, and awaits what `format_of` knows.
fn begin(
    client: &mut Client,
    text: &str,
    format_of: impl Fn(&Event<'_>) -> Option<Format>,
    not_a_copy: &'static str,
) -> Result<Format, Error> {
    let pipeline = client.begin()?;
    pipeline.parse(b"", text.as_bytes(), &[])?;
    pipeline.bind(b"", b"", &[], &[], &[])?;
    pipeline.execute(b"", 0)?;
    pipeline.flush();
    let mut format = None;
    client.link.drive(|event| {
        format = format_of(&event);
        let over = matches!(event, Event::Error(_) | Event::Complete(_) | Event::EmptyQuery);
        Ok(if over || format.is_some() { Step::Stop } else { Step::Go })
    })?;
    if format.is_none() {
        end(client, &mut |_| Ok(Step::Go))?;
    }
    format.ok_or_else(|| Error::new(Kind::Usage(not_a_copy)))
}

/// Ends a COPY's turn.
fn end(client: &mut Client, on: &mut dyn FnMut(Event<'_>) -> Result<Step, Error>) -> Result<(), Error> {
    let pipeline = client.link.pipeline()?;
    if pipeline.turn_is_open() {
        pipeline.sync();
    }
    client.finish(on)
}
