//! Where the answer to one turn is gathered, and who waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use trunkline_driver_blocking::parts::{Described, Kind, take_simple};
use trunkline_driver_blocking::{Error, Fate, SimpleResult};
use trunkline_session::frontend::{Event, Misbehaviour, Refusal};
use trunkline_wire::Format;

/// What is done with what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Keep it until the turn is over.
    Whole,
    /// Texts of a simple query, kept until the turn is over.
    Texts,
    /// Wake the reader whenever something is there, and hold back what comes beyond this many bytes.
    Parts { bytes_max: usize },
}

/// A turn's answer as it comes in. The dispatcher writes it, one task reads it.
#[derive(Debug)]
pub(crate) struct Reply {
    want: Want,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waker: Option<Waker>,
    answer: Answered,
    error: Option<Error>,
    stage: Stage,
    /// All that a Describe gives has come.
    is_described: bool,
    items_before_error: usize,
    /// Data is thrown away.
    draining: bool,
    /// Nobody reads it any more.
    abandoned: bool,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    #[default]
    Waiting,
    /// The server waits for copied data in this format.
    CopyIn(Format),
    /// Copied data comes in this format.
    CopyOut(Format),
    Over,
}

/// What a turn was answered with.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// Messages: rows, with those around them where a Bind and Execute were asked as one; or copied data.
    pub(crate) frames: Vec<u8>,
    /// Items of a batch that are done.
    pub(crate) items: usize,
    /// What the last command's tag says of rows.
    pub(crate) affected: Option<u64>,
    /// Whether a portal gave as many rows as were asked for, and may have more.
    pub(crate) suspended: bool,
    pub(crate) described: Option<Box<Described>>,
    pub(crate) results: Vec<SimpleResult>,
}

/// Why a connection ended.
#[derive(Debug, Clone)]
pub(crate) enum Cause {
    /// The server closed it, and may have said why.
    Ended(Option<Box<Refusal>>),
    Io(std::io::ErrorKind, String),
    Misbehaved(Misbehaviour),
}

impl Cause {
    /// What a turn of this fate is told.
    pub(crate) fn error(&self, fate: Fate) -> Error {
        let fate = Some(fate);
        Error::new(match self.clone() {
            Self::Ended(reason) => Kind::Ended { reason, fate },
            Self::Io(kind, text) => Kind::Io { source: std::io::Error::new(kind, text), fate },
            Self::Misbehaved(source) => Kind::Misbehaved { source, fate },
        })
    }
}

impl Reply {
    pub(crate) fn new(want: Want) -> Arc<Self> {
        Arc::new(Self { want, state: Mutex::default() })
    }

    /// No code of others runs while it is locked, so that nothing can be half done in it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the server said for this turn. Whether it can hold more.
    pub(super) fn take(&self, event: &Event<'_>) -> bool {
        let mut state = self.lock();
        if let Event::Error(error) = event {
            // An error is for whoever reads it in the end; what came before it is not a result.
            state.error.get_or_insert_with(|| Error::new(Kind::Server(Refusal::of(error))));
            // A turn without a Sync yet goes no further by itself.
            let waker = if matches!(self.want, Want::Parts { .. }) { state.waker.take() } else { None };
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
            return true;
        }
        let is_data = matches!(event, Event::Batch { .. } | Event::Rows { .. } | Event::CopyData { .. });
        if state.abandoned || state.error.is_some() || (state.draining && is_data) {
            return true;
        }
        if self.want == Want::Texts {
            if let Err(error) = take_simple(&mut state.answer.results, *event) {
                state.error = Some(error);
            }
            return true;
        }
        let bytes_max = match self.want {
            Want::Parts { bytes_max } => bytes_max,
            _ => usize::MAX,
        };
        let is_part = state.take(event);
        let has_room = state.answer.frames.len() < bytes_max;
        let waker = if is_part && bytes_max < usize::MAX { state.waker.take() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        has_room
    }

    /// Whether more may come in before its reader has taken some.
    pub(super) fn has_room(&self) -> bool {
        let Want::Parts { bytes_max } = self.want else { return true };
        let state = self.lock();
        state.abandoned || state.error.is_some() || state.answer.frames.len() < bytes_max
    }

    /// Whether its reader has data to copy in.
    pub(super) fn wants_copy(&self) -> bool {
        matches!(self.want, Want::Parts { .. }) && !self.lock().abandoned
    }

    /// The turn is over.
    pub(super) fn over(&self) {
        let mut state = self.lock();
        state.stage = Stage::Over;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The connection has ended before the turn was over. One whose error had come keeps it.
    pub(crate) fn lose(&self, cause: &Cause, fate: Fate) {
        let mut state = self.lock();
        state.error.get_or_insert_with(|| cause.error(fate));
        state.stage = Stage::Over;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nobody reads it any more: what comes is dropped. Whether it held the connection back.
    pub(crate) fn abandon(&self) -> bool {
        let held_back = !self.has_room();
        let mut state = self.lock();
        state.abandoned = true;
        state.waker = None;
        state.answer = Answered::default();
        held_back
    }

    /// Its reader wants to know how it ends, and none of the data. Whether it held the connection back.
    pub(crate) fn drain(&self) -> bool {
        let held_back = !self.has_room();
        let mut state = self.lock();
        state.draining = true;
        state.answer.frames = Vec::new();
        held_back
    }

    /// The whole answer, once the turn is over.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<Answered, Error>> {
        let mut state = self.lock();
        if state.stage == Stage::Over {
            state.items_before_error = state.answer.items;
            let answer = std::mem::take(&mut state.answer);
            return Poll::Ready(state.error.take().map_or(Ok(answer), Err));
        }
        state.wait(cx);
        Poll::Pending
    }

    /// Items of a batch that were done before it failed; the answer has them where it did not.
    pub(crate) fn items(&self) -> usize {
        self.lock().items_before_error
    }

    /// What has come since the last call; `None` when the turn is over and nothing is left. Only for [`Want::Parts`].
    pub(crate) fn poll_part(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Answered, Error>>> {
        let mut state = self.lock();
        if !state.answer.frames.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut state.answer))));
        }
        let over = state.stage == Stage::Over;
        if let Some(error) = state.error.take_if(|_| over) {
            return Poll::Ready(Some(Err(error)));
        }
        if state.stage == Stage::Over {
            return Poll::Ready(None);
        }
        state.wait(cx);
        Poll::Pending
    }

    /// What was described, once all of it is there; `None` when that failed. Only for [`Want::Parts`].
    pub(crate) fn poll_described(&self, cx: &mut Context<'_>) -> Poll<Option<Box<Described>>> {
        let mut state = self.lock();
        if state.error.is_some() || state.stage == Stage::Over {
            return Poll::Ready(None);
        }
        if state.is_described {
            return Poll::Ready(state.answer.described.take());
        }
        state.wait(cx);
        Poll::Pending
    }

    /// How far the turn is, as soon as it is further than waiting, or its error. Only for [`Want::Parts`].
    pub(crate) fn poll_stage(&self, cx: &mut Context<'_>) -> Poll<Stage> {
        let mut state = self.lock();
        match state.stage {
            Stage::Waiting if state.error.is_none() && state.answer.affected.is_none() => {
                state.wait(cx);
                Poll::Pending
            }
            stage => Poll::Ready(stage),
        }
    }
}

impl State {
    fn wait(&mut self, cx: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }

    /// Whether it is something for a reader of parts.
    fn take(&mut self, event: &Event<'_>) -> bool {
        let answer = &mut self.answer;
        match event {
            Event::Batch { frames, items } => {
                answer.frames.extend_from_slice(frames);
                answer.items += *items as usize;
            }
            Event::Rows { frames, .. } | Event::CopyData { frames, .. } => {
                answer.frames.extend_from_slice(frames);
            }
            Event::Complete(complete) => answer.affected = Some(complete.rows().unwrap_or(0)),
            Event::EmptyQuery => answer.affected = Some(0),
            Event::Suspended => answer.suspended = true,
            Event::Parameters(message) => {
                answer.described.get_or_insert_default().parameters = message.types.collect();
                return false;
            }
            Event::Columns(message) => {
                answer.described.get_or_insert_default().columns(message);
                self.is_described = true;
            }
            Event::NoData => {
                answer.described.get_or_insert_default();
                self.is_described = true;
            }
            Event::CopyIn(response) => self.stage = Stage::CopyIn(response.format),
            Event::CopyOut(response) => self.stage = Stage::CopyOut(response.format),
            _ => return false,
        }
        true
    }
}
