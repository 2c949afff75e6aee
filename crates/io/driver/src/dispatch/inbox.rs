//! What tasks have submitted and the dispatcher has not taken yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use trunkline_driver_blocking::Fate;
use trunkline_session::frontend::Pipeline;

use super::{Cause, Reply};
use crate::bounds::Bounds;

/// Who submits: everybody ([`Owner::ANYONE`]), or what holds the connection for itself for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(pub(crate) u64);

impl Owner {
    pub(crate) const ANYONE: Self = Self(0);
}

/// Messages, and who hears of each of their turns. A turn that has no Sync yet has its reply here all the same; the chunk
/// that ends it has none for it.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) pipeline: Pipeline,
    pub(crate) replies: Vec<Option<Arc<Reply>>>,
}

/// What became of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// It will be sent.
    Yes,
    /// There is no room now; it was not taken.
    Full,
    /// The connection has ended; it was not taken.
    Closed,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Inbox {
    /// What can be sent.
    pub(super) ready: Chunk,
    /// What waits until the holder is through.
    parked: Chunk,
    /// Who has the connection for itself.
    holder: Owner,
    bounds: Bounds,
    /// As the dispatcher said last.
    pub(super) unsent_bytes: usize,
    /// As the dispatcher said last.
    pub(super) turns_taken: usize,
    /// Submitters that wait for room.
    waiting: VecDeque<Waker>,
    cause: Option<Cause>,
}

impl Inbox {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            ready: Chunk::default(),
            parked: Chunk::default(),
            holder: Owner::ANYONE,
            bounds,
            unsent_bytes: 0,
            turns_taken: 0,
            waiting: VecDeque::new(),
            cause: None,
        }
    }

    pub(crate) fn has_new(&self) -> bool {
        !self.ready.pipeline.unsent().is_empty()
    }

    pub(super) fn has_parked(&self) -> bool {
        !self.parked.replies.is_empty()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.cause.is_some()
    }

    /// Takes messages whose turns these replies hear of. `pipeline` is empty then; its memory stays with it.
    pub(crate) fn submit(
        &mut self,
        owner: Owner,
        pipeline: &mut Pipeline,
        replies: impl IntoIterator<Item = Option<Arc<Reply>>>,
    ) -> Submitted {
        if self.is_closed() {
            return Submitted::Closed;
        }
        if !self.has_room() {
            return Submitted::Full;
        }
        self.put(owner, pipeline, replies);
        Submitted::Yes
    }

    /// Takes what must be sent whatever waits: the end of something that was begun.
    pub(crate) fn put(
        &mut self,
        owner: Owner,
        pipeline: &mut Pipeline,
        replies: impl IntoIterator<Item = Option<Arc<Reply>>>,
    ) {
        let parks = self.holder != Owner::ANYONE && self.holder != owner;
        let chunk = if parks { &mut self.parked } else { &mut self.ready };
        chunk.pipeline.append(pipeline);
        chunk.replies.extend(replies);
    }

    fn has_room(&self) -> bool {
        let turns = self.turns_taken + self.ready.replies.len() + self.parked.replies.len();
        let bytes =
            self.unsent_bytes + self.ready.pipeline.unsent().len() + self.parked.pipeline.unsent().len();
        turns < self.bounds.turns_max && bytes < self.bounds.unsent_bytes_max
    }

    /// Wakes this one when there is room again; `false` when there is now.
    pub(crate) fn wait_for_room(&mut self, waker: &Waker) -> bool {
        if self.is_closed() || self.has_room() {
            return false;
        }
        self.waiting.push_back(waker.clone());
        true
    }

    /// Wakes those that wait for room, if there is some.
    pub(super) fn admit(&mut self) {
        if !self.waiting.is_empty() && self.has_room() {
            self.waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// From now on only what `owner` submits is sent. Nobody else may hold it.
    pub(crate) fn hold(&mut self, owner: Owner) {
        debug_assert!(self.holder == Owner::ANYONE, "it is held already");
        self.holder = owner;
    }

    /// Who has the connection for itself.
    pub(crate) fn holder(&self) -> Owner {
        self.holder
    }

    /// What was parked goes on.
    pub(crate) fn release(&mut self) {
        self.holder = Owner::ANYONE;
        self.ready.pipeline.append(&mut self.parked.pipeline);
        self.ready.replies.append(&mut self.parked.replies);
    }

    /// Nothing is sent any more.
    pub(super) fn end(&mut self, cause: &Cause) {
        self.cause = Some(cause.clone());
        for chunk in [std::mem::take(&mut self.ready), std::mem::take(&mut self.parked)] {
            chunk.replies.iter().flatten().for_each(|reply| reply.lose(cause, Fate::NotRun));
        }
        self.waiting.drain(..).for_each(Waker::wake);
    }
}
