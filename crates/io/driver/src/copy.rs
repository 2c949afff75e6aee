//! COPY, in both directions.

use std::future::poll_fn;
use std::marker::PhantomData;

use bytes::{Buf, Bytes};
use trunkline_driver_blocking::Error;
use trunkline_driver_blocking::parts::Kind;
use trunkline_session::frontend::rows::Frames;
use trunkline_wire::Format;

use crate::client::{Asked, Client};
use crate::dispatch::{Stage, Submitted, Want};
use crate::link::Hold;

/// Copied data is sent in messages of about this many bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Data for a `COPY ... FROM STDIN`: [`write`](Self::write) it, then [`finish`](Self::finish). Dropped before that, the copy is
/// given up.
#[derive(Debug)]
pub struct CopyIn<'c> {
    client: Client,
    /// Nothing of others may come between, or the server takes it for data.
    hold: Option<Hold>,
    asked: Option<Asked>,
    format: Format,
    buffer: Vec<u8>,
    ended: bool,
    _within: PhantomData<&'c Client>,
}

impl<'c> CopyIn<'c> {
    pub(crate) async fn begin(client: &'c Client, text: &str) -> Result<Self, Error> {
        let nested = client.link.is_held_by(client.owner);
        let hold = if nested { None } else { Some(client.link.hold().await) };
        let client =
            hold.as_ref().map_or_else(|| client.clone(), |hold| client.owned_by(hold.owner)).unlimited();
        let (format, buffer) = (Format::TEXT, Vec::new());
        let mut copy = Self { client, hold, asked: None, format, buffer, ended: false, _within: PhantomData };
        let want = Want::Parts { bytes_max: copy.client.link.bounds.stream_bytes_max.max(1) };
        // Without a Sync, which the server's COPY would swallow.
        let asked = copy.client.submit(want, |scratch| {
            scratch.pipeline.parse(b"", text.as_bytes(), &[])?;
            scratch.pipeline.bind(b"", b"", &[], &[], &[])?;
            scratch.pipeline.execute(b"", 0)?;
            scratch.pipeline.flush();
            Ok(())
        });
        let asked = copy.asked.insert(asked.await?);
        match poll_fn(|cx| asked.reply.poll_stage(cx)).await {
            Stage::CopyIn(format) => {
                copy.format = format;
                Ok(copy)
            }
            _ => {
                copy.finish().await?;
                Err(Error::new(Kind::Usage("the command is no COPY ... FROM STDIN")))
            }
        }
    }

    /// Text or binary, as the command says.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.format == Format::BINARY
    }

    /// Takes data, and sends it once there is enough of it; waits while too much waits to be sent.
    ///
    /// # Errors
    /// When the connection ends. What the server says comes with [`finish`](Self::finish).
    pub async fn write(&mut self, data: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(data);
        if self.buffer.len() >= PIECE_BYTES { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<(), Error> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut pipeline = trunkline_session::frontend::Pipeline::new();
        pipeline.copy_data(&self.buffer)?;
        self.buffer.clear();
        loop {
            match self.client.link.submit(self.client.owner, &mut pipeline, None) {
                Submitted::Yes => return Ok(()),
                Submitted::Full => self.client.link.room().await,
                Submitted::Closed => return Err(Error::new(Kind::Closed)),
            }
        }
    }

    /// Sends the rest and waits for the server to have taken it all. How many rows that were.
    ///
    /// # Errors
    /// The server's error: nothing was copied then.
    pub async fn finish(mut self) -> Result<u64, Error> {
        // A connection that has ended says so below, and what became of the copy.
        let _ = self.send().await;
        self.end(|pipeline| pipeline.copy_done());
        let Some(asked) = self.asked.take() else { return Ok(0) };
        // A command that is no COPY from the client may have answers of any size.
        asked.drain();
        Ok(asked.await?.affected.unwrap_or(0))
    }

    /// Ends the turn, once.
    fn end(&mut self, how: impl FnOnce(&mut trunkline_session::frontend::Pipeline)) {
        if self.asked.is_some() && !std::mem::replace(&mut self.ended, true) {
            self.client.put(|pipeline| {
                how(pipeline);
                pipeline.sync();
            });
        }
        self.hold = None;
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        self.end(|pipeline| {
            // The reason is a text that can be sent. Where no COPY was begun, the server passes it over.
            let _ = pipeline.copy_fail(b"the copy was given up");
        });
    }
}

/// Data of a `COPY ... TO STDOUT`. Dropped before its end, the rest is read and thrown away.
#[derive(Debug)]
pub struct CopyOut {
    asked: Asked,
    format: Format,
    /// Messages that were taken and not handed out.
    part: Bytes,
}

impl CopyOut {
    pub(crate) async fn begin(client: &Client, text: &str) -> Result<Self, Error> {
        let want = Want::Parts { bytes_max: client.link.bounds.stream_bytes_max.max(1) };
        let asked = client.submit(want, |scratch| {
            scratch.pipeline.parse(b"", text.as_bytes(), &[])?;
            scratch.pipeline.bind(b"", b"", &[], &[], &[])?;
            scratch.pipeline.execute(b"", 0)?;
            scratch.pipeline.sync();
            Ok(())
        });
        let mut asked = asked.await?;
        match poll_fn(|cx| asked.reply.poll_stage(cx)).await {
            Stage::CopyOut(format) => Ok(Self { asked, format, part: Bytes::new() }),
            _ => {
                while let Some(part) = poll_fn(|cx| asked.poll_part(cx)).await {
                    part?;
                }
                Err(Error::new(Kind::Usage("the command is no COPY ... TO STDOUT")))
            }
        }
    }

    /// Text or binary, as the command says.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.format == Format::BINARY
    }

    /// The next message's data: a row, in text and binary format; `None` after the last. Nothing is lost when this future is
    /// dropped.
    ///
    /// # Errors
    /// The server's error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let mut frames = Frames::copied(&self.part);
            if let Some(data) = frames.next() {
                let data = self.part.slice_ref(data);
                let passed = self.part.len() - frames.remaining();
                self.part.advance(passed);
                return Ok(Some(data));
            }
            match poll_fn(|cx| self.asked.poll_part(cx)).await {
                Some(part) => self.part = part?.into(),
                None => return Ok(None),
            }
        }
    }
}
