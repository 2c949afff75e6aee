//! One statement, run with many sets of parameters.

use std::sync::Arc;

use bytes::BytesMut;
use trunkline_session::frontend::Event;
use trunkline_session::frontend::rows::{Frames, Part, Parts};

use crate::client::{Client, Parameter};
use crate::error::{Error, Kind};
use crate::link::Step;
use crate::parameters;
use crate::rows::{Column, Row};
use crate::statement::Statement;

/// Bytes that are encoded before they are sent: the server begins while the rest is encoded.
const PIECE_BYTES: usize = 64 << 10;

/// A batch. Sets of parameters are encoded into one buffer and sent as they come; answers are read whenever the server takes no
/// more, so that a server that waits for its answers to be read never waits for long.
///
/// By default all items end with one Sync: they are one transaction, unless one is open already.
#[derive(Debug)]
pub struct Batch<'c> {
    client: &'c mut Client,
    statement: Statement,
    scratch: BytesMut,
    answers: Answers,
    items: usize,
    items_per_sync: Option<usize>,
    failed: Option<Error>,
}

impl<'c> Batch<'c> {
    pub(crate) fn new(client: &'c mut Client, statement: &Statement) -> Self {
        let answers = Answers { columns: Arc::clone(statement.shared_columns()), ..Answers::default() };
        let scratch = client.scratch();
        Self {
            client,
            statement: statement.clone(),
            scratch,
            answers,
            items: 0,
            items_per_sync: None,
            failed: None,
        }
    }

    /// Ends a turn after every `items` items: each such part is a transaction of its own.
    #[must_use]
    pub fn sync_every(mut self, items: usize) -> Self {
        self.items_per_sync = Some(items.max(1));
        self
    }

    /// Adds an item.
    ///
    /// # Errors
    /// When the parameters do not fit, which leaves the batch as it was; or when the connection ends. What the server says
    /// comes with [`query`](Self::query) or [`execute`](Self::execute).
    #[inline]
    pub fn push(&mut self, parameters: &[Parameter<'_>]) -> Result<(), Error> {
        self.push_iter(parameters.iter().copied())
    }

    /// Adds an item whose parameters an iterator gives.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    #[inline]
    pub fn push_iter<'p>(
        &mut self,
        given: impl ExactSizeIterator<Item = Parameter<'p>>,
    ) -> Result<(), Error> {
        if self.items == 0 {
            if !self.statement.belongs_to(self.client.unused()) {
                return Err(Error::new(Kind::Usage("the statement was prepared on another connection")));
            }
            self.client.begin()?;
        }
        let Self { client, statement, scratch, .. } = self;
        let pipeline = client.link.pipeline()?;
        pipeline.bind_execute(statement.template(), |values| {
            parameters::write(values, statement.parameters(), given, scratch)
        })?;
        self.items += 1;
        if self.items_per_sync.is_some_and(|each| self.items.is_multiple_of(each)) {
            pipeline.sync();
        }
        if pipeline.unsent().len() >= PIECE_BYTES { self.send() } else { Ok(()) }
    }

    /// Sends what is encoded, reading where the server takes no more.
    fn send(&mut self) -> Result<(), Error> {
        let answers = &mut self.answers;
        let outcome = self.client.link.send_while_reading(&mut |event| answers.take(event));
        match outcome {
            Err(error) if !error.is_closed() => {
                self.failed.get_or_insert(error);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Runs it and gives the rows of all its items.
    ///
    /// # Errors
    /// The server's error, with the [item](Error::item) that failed.
    pub fn query(mut self) -> Result<BatchResult, Error> {
        if self.items > 0 {
            let pipeline = self.client.link.pipeline()?;
            if pipeline.turn_is_open() {
                pipeline.sync();
            }
            let answers = &mut self.answers;
            let outcome = self.client.finish(&mut |event| answers.take(event));
            let failed = match (self.failed.take(), outcome) {
                (Some(error), _) | (None, Err(error)) => Some(error),
                (None, Ok(())) => None,
            };
            if let Some(source) = failed {
                let item = self.answers.failed_at.unwrap_or(self.answers.items);
                return Err(Error::new(Kind::Item { item, source }));
            }
        }
        self.client.keep_scratch(std::mem::take(&mut self.scratch));
        let answers = std::mem::take(&mut self.answers);
        Ok(BatchResult::new(answers.columns, answers.frames, answers.items))
    }

    /// Runs it and says how many rows all its items have changed.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn execute(self) -> Result<u64, Error> {
        let mut affected = 0;
        self.query()?.for_each_item(|item| {
            affected += item.affected.unwrap_or(0);
            Ok(())
        })?;
        Ok(affected)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // One that was begun and not run is ended: its items may have run.
        if self.items > 0 && !self.client.link.is_closed() && !self.client.link.connection().is_idle() {
            if let Ok(pipeline) = self.client.link.pipeline()
                && pipeline.turn_is_open()
            {
                pipeline.sync();
            }
            let _ = self.client.finish(&mut |_| Ok(Step::Go));
        }
    }
}

#[derive(Debug, Default)]
struct Answers {
    columns: Arc<[Column]>,
    frames: Vec<u8>,
    /// Items that are done.
    items: usize,
    failed_at: Option<usize>,
}

impl Answers {
    #[inline]
    fn take(&mut self, event: Event<'_>) -> Result<Step, Error> {
        match event {
            Event::Batch { frames, items } => {
                self.frames.extend_from_slice(frames);
                self.items += items as usize;
            }
            Event::Error(_) => self.failed_at = self.failed_at.or(Some(self.items)),
            _ => {}
        }
        Ok(Step::Go)
    }
}

/// The answers to a batch: one buffer.
#[derive(Debug)]
pub struct BatchResult {
    columns: Arc<[Column]>,
    frames: Vec<u8>,
    items: usize,
}

/// What came of one item.
#[derive(Debug)]
pub struct Item<'b> {
    columns: &'b [Column],
    /// Its messages.
    frames: &'b [u8],
    /// Which item it is, from 0.
    pub number: usize,
    /// Rows that it changed or returned.
    pub affected: Option<u64>,
}

impl<'b> Item<'b> {
    /// Its rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'b>> + use<'b> {
        let columns = self.columns;
        Frames::rows(self.frames).map(move |body| Row::new(columns, body))
    }
}

impl BatchResult {
    /// A result of the messages that answer a batch of `items`.
    #[doc(hidden)]
    #[must_use]
    pub fn new(columns: Arc<[Column]>, frames: Vec<u8>, items: usize) -> Self {
        Self { columns, frames, items }
    }

    /// How many items it had.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether it had none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// All rows of all items, in their order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let bodies = Frames::rows(&self.frames);
        bodies.map(|body| Row::new(&self.columns, body))
    }

    /// Hands each item to `each`.
    ///
    /// # Errors
    /// What `each` says, or when the server sent a malformed answer.
    pub fn for_each_item(&self, mut each: impl FnMut(Item<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let mut parts = Parts::new(&self.frames);
        let (mut begun, mut number) = (0, 0);
        while let Some(part) = parts.next() {
            let Part::End(end) = part? else { continue };
            let upto = self.frames.len() - parts.remaining();
            let frames = self.frames.get(begun..upto).unwrap_or_default();
            each(Item { columns: &self.columns, frames, number, affected: end.rows() })?;
            begun = upto;
            number += 1;
        }
        Ok(())
    }
}
