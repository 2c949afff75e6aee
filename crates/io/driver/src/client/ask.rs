//! One turn: messages out, its answer in.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::BytesMut;
use trunkline_driver_blocking::parts::Kind;
use trunkline_driver_blocking::{Error, Statement};
use trunkline_session::frontend::Pipeline;

use super::{Client, Parameter};
use crate::dispatch::{Answered, Owner, Reply, Submitted, Want};
use crate::link::Link;

/// Scratch memory larger than this is given back.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// What messages are written into before they are submitted: so no code of a parameter's runs under a lock, and one that
/// panics leaves nothing half written.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) pipeline: Pipeline,
    pub(crate) value: BytesMut,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// A turn that was submitted. Dropped before it is over, its answer is read and thrown away.
#[derive(Debug)]
pub(crate) struct Asked {
    link: Arc<Link>,
    pub(crate) reply: Arc<Reply>,
    over: bool,
}

impl Client {
    /// Submits what `write` writes, one turn, and awaits its answer.
    pub(crate) async fn ask(
        &self,
        want: Want,
        write: impl FnOnce(&mut Scratch) -> Result<(), Error>,
    ) -> Result<Answered, Error> {
        if let Some(limit) = self.timeout {
            return Box::pin(self.ask_in_time(limit, want, write)).await;
        }
        self.submit(want, write).await?.await
    }

    /// Submits what `write` writes, which is one turn, or the beginning of one that nobody can get into.
    pub(crate) async fn submit(
        &self,
        want: Want,
        write: impl FnOnce(&mut Scratch) -> Result<(), Error>,
    ) -> Result<Asked, Error> {
        let reply = Reply::new(want);
        let rest = submit_now(&self.link, self.owner, &reply, write)?;
        if let Some(mut rest) = rest {
            self.submit_when_there_is_room(&mut rest, &reply).await?;
        }
        Ok(Asked { link: Arc::clone(&self.link), reply, over: false })
    }

    /// Submits messages of a turn that was begun.
    pub(crate) fn put(&self, write: impl FnOnce(&mut Pipeline)) {
        let mut pipeline = Pipeline::new();
        write(&mut pipeline);
        self.link.put(self.owner, &mut pipeline, None);
    }

    #[cold]
    async fn submit_when_there_is_room(
        &self,
        pipeline: &mut Pipeline,
        reply: &Arc<Reply>,
    ) -> Result<(), Error> {
        loop {
            self.link.room().await;
            match self.link.submit(self.owner, pipeline, [Some(Arc::clone(reply))]) {
                Submitted::Yes => return Ok(()),
                Submitted::Full => {}
                Submitted::Closed => return Err(Error::new(Kind::Closed)),
            }
        }
    }
}

/// Submits what `write` writes. `Some` is what there was no room for.
fn submit_now(
    link: &Arc<Link>,
    owner: Owner,
    reply: &Arc<Reply>,
    write: impl FnOnce(&mut Scratch) -> Result<(), Error>,
) -> Result<Option<Pipeline>, Error> {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    write(&mut scratch)?;
    let bytes = scratch.pipeline.unsent().len();
    let submitted = link.submit(owner, &mut scratch.pipeline, [Some(Arc::clone(reply))]);
    let rest = match submitted {
        Submitted::Yes => None,
        Submitted::Full => Some(std::mem::take(&mut scratch.pipeline)),
        Submitted::Closed => return Err(Error::new(Kind::Closed)),
    };
    if scratch.value.capacity().max(bytes) <= KEPT_BYTES_MAX {
        SCRATCH.set(Some(scratch));
    }
    Ok(rest)
}

impl Asked {
    /// Throws away data that comes.
    pub(crate) fn drain(&self) {
        if self.reply.drain() {
            self.link.wake();
        }
    }

    /// The messages that have come since the last call; `None` after the end. Only for [`Want::Parts`].
    pub(crate) fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, Error>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let part = std::task::ready!(self.reply.poll_part(cx));
        match &part {
            // The connection may wait for this.
            Some(Ok(_)) => self.link.wake(),
            _ => self.over = true,
        }
        Poll::Ready(part.map(|part| part.map(|answered| answered.frames)))
    }
}

impl Future for Asked {
    type Output = Result<Answered, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(self.reply.poll(cx));
        self.over = true;
        Poll::Ready(answer)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.over && self.reply.abandon() {
            self.link.wake();
        }
    }
}

/// Writes the Bind and Execute of a statement, without a Sync.
pub(crate) fn bind_execute(
    scratch: &mut Scratch,
    statement: &Statement,
    parameters: &[Parameter<'_>],
) -> Result<(), Error> {
    let Scratch { pipeline, value } = scratch;
    pipeline.bind_execute(statement.template(), |values| {
        let parameters = parameters.iter().copied();
        trunkline_driver_blocking::parts::write_parameters(values, statement.parameters(), parameters, value)
    })
}
