//! Rows as they come.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use trunkline_driver_blocking::{Column, Error, OwnedRow, Rows, Statement};
use trunkline_session::frontend::rows::Frames;

use crate::client::{Asked, Client, Parameter, bind_execute, part};
use crate::dispatch::Want;

/// The rows of a query, while they come. Dropped before its end, the rest is read and thrown away.
///
/// It is a [`Stream`] of rows, each with a share of the buffer it came in, without an allocation of its own;
/// [`next_rows`](Self::next_rows) gives what is there at once.
#[derive(Debug)]
pub struct RowStream {
    asked: Asked,
    columns: Arc<[Column]>,
    /// Messages that were taken and not handed out.
    part: Bytes,
}

impl RowStream {
    pub(crate) async fn begin(
        client: &Client,
        statement: &Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<Self, Error> {
        let want = Want::Parts { bytes_max: client.link.bounds.stream_bytes_max.max(1) };
        let asked = client.submit(want, |scratch| {
            bind_execute(scratch, statement, parameters)?;
            scratch.pipeline.sync();
            Ok(())
        });
        let columns = Arc::clone(statement.shared_columns());
        Ok(Self { asked: asked.await?, columns, part: Bytes::new() })
    }

    /// The columns of each row.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows that are there, at least one; `None` after the last. Nothing is lost when this future is dropped.
    ///
    /// # Errors
    /// The server's error.
    pub async fn next_rows(&mut self) -> Result<Option<Rows>, Error> {
        loop {
            let frames = if self.part.is_empty() {
                match poll_fn(|cx| self.asked.poll_part(cx)).await {
                    Some(frames) => frames?,
                    None => return Ok(None),
                }
            } else {
                std::mem::take(&mut self.part).into()
            };
            let rows = part(Arc::clone(&self.columns), frames);
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
    }
}

impl Stream for RowStream {
    type Item = Result<OwnedRow, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let this = &mut *self;
            let mut frames = Frames::rows(&this.part);
            if let Some(body) = frames.next() {
                let row = OwnedRow::new(Arc::clone(&this.columns), this.part.slice_ref(body));
                let passed = this.part.len() - frames.remaining();
                bytes::Buf::advance(&mut this.part, passed);
                return Poll::Ready(Some(Ok(row)));
            }
            match ready!(this.asked.poll_part(cx)) {
                Some(Ok(frames)) => this.part = frames.into(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}
