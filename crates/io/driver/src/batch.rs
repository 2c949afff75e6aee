//! One statement, run with many sets of parameters.

use std::sync::Arc;

use trunkline_driver_blocking::parts::Kind;
use trunkline_driver_blocking::{BatchResult, Error, Statement};

use crate::client::{Client, Parameter, Scratch, bind_execute};
use crate::dispatch::{Answered, Want};

/// A batch: its items are encoded into one buffer, which is sent as a whole and answered into another. While the connection's
/// task sends, it reads: neither side waits for the other.
///
/// By default all items end with one Sync: they are one transaction, unless one is open already.
#[derive(Debug)]
pub struct Batch<'c> {
    client: &'c Client,
    statement: Statement,
    /// Parts that end with a Sync, and how many items each has.
    parts: Vec<(Scratch, usize)>,
    items_per_sync: usize,
}

impl<'c> Batch<'c> {
    pub(crate) fn new(client: &'c Client, statement: &Statement) -> Self {
        Self { client, statement: statement.clone(), parts: Vec::new(), items_per_sync: usize::MAX }
    }

    /// Ends a turn after every `items` items: each such part is a transaction of its own.
    #[must_use]
    pub fn sync_every(mut self, items: usize) -> Self {
        self.items_per_sync = items.max(1);
        self
    }

    /// Adds an item.
    ///
    /// # Errors
    /// When the parameters do not fit, which leaves the batch as it was.
    #[inline]
    pub fn push(&mut self, parameters: &[Parameter<'_>]) -> Result<(), Error> {
        if self.parts.last().is_none_or(|(_, items)| *items >= self.items_per_sync) {
            self.client.own(&self.statement)?;
            self.parts.push((Scratch::default(), 0));
        }
        let Some((scratch, items)) = self.parts.last_mut() else { return Ok(()) };
        bind_execute(scratch, &self.statement, parameters)?;
        *items += 1;
        Ok(())
    }

    /// Runs it and gives the rows of all its items. An error comes after the parts that were sent before and behind it have been
    /// run: each is a transaction of its own.
    ///
    /// # Errors
    /// The server's error, with the [item](Error::item) that failed first.
    pub async fn query(self) -> Result<BatchResult, Error> {
        let columns = Arc::clone(self.statement.shared_columns());
        let mut asked = Vec::with_capacity(self.parts.len());
        for (mut part, items) in self.parts {
            let sent = self.client.submit(Want::Whole, |scratch| {
                part.pipeline.sync();
                scratch.pipeline.append(&mut part.pipeline);
                Ok(())
            });
            asked.push((sent.await?, items));
        }
        let mut whole = Answered::default();
        let mut failed = None;
        let mut before = 0;
        for (asked, items) in asked {
            let reply = Arc::clone(&asked.reply);
            match asked.await {
                // One part is the whole, as a rule.
                Ok(answered) if before == 0 => whole = answered,
                Ok(answered) => {
                    whole.frames.extend_from_slice(&answered.frames);
                    whole.items += answered.items;
                }
                Err(source) => {
                    let item = before + reply.items();
                    failed.get_or_insert_with(|| Error::new(Kind::Item { item, source }));
                }
            }
            before += items;
        }
        failed.map_or_else(|| Ok(BatchResult::new(columns, whole.frames, whole.items)), Err)
    }

    /// Runs it and says how many rows all its items have changed.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub async fn execute(self) -> Result<u64, Error> {
        let mut affected = 0;
        self.query().await?.for_each_item(|item| {
            affected += item.affected.unwrap_or(0);
            Ok(())
        })?;
        Ok(affected)
    }
}
