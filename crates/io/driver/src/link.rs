//! The connection that many handles share, and the task that waits for its socket.
//!
//! Two locks: the inbox, held while some bytes are copied into it, and the socket's side. Who submits to a connection that has
//! nothing to do sends by itself; while answers are awaited, all that is submitted goes with the task's next write.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use trunkline_driver_blocking::CancelToken;
use trunkline_driver_blocking::parts::Unused;
use trunkline_session::frontend::Pipeline;

use crate::bounds::Bounds;
use crate::dispatch::{Cause, Dispatcher, Inbox, Owner, Reply, Submitted};
use crate::listen::Listeners;
use crate::nap::Nap;
use crate::transport::Transport;

/// An input buffer that became larger than this is given back when it is empty.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// See the module.
pub(crate) struct Link {
    inbox: Mutex<Desk>,
    wire: Mutex<Wire>,
    pub(crate) listeners: Listeners,
    pub(crate) bounds: Bounds,
    pub(crate) cancel: CancelToken,
    pub(crate) unused: Unused,
    pub(crate) names: AtomicU64,
    exclusive: Arc<Semaphore>,
    owners: AtomicU64,
}

/// The inbox, and who looks after it.
struct Desk {
    inbox: Inbox,
    /// The task, once it has run.
    task: Option<Waker>,
    attention: Attention,
    /// No handle is left: what was asked is answered, then the connection is closed.
    closing: bool,
    /// A query has not ended in time, nor when it was cancelled.
    given_up: bool,
    /// Those that wait for the connection's end.
    mourners: Vec<Waker>,
}

/// Who will look into the inbox next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attention {
    /// Nobody: nothing is under way, and whoever submits sends.
    Idle,
    /// Nobody: the task waits for answers, and whoever submits wakes it.
    Busy,
    /// The task, or who sends just now.
    Coming,
}

/// The socket's side.
struct Wire {
    dispatcher: Dispatcher,
    transport: Transport,
    /// Received bytes; those before `at` are consumed.
    input: Vec<u8>,
    at: usize,
    nap: Nap,
    /// The socket takes no more, ever: what the server said before is read.
    deaf: bool,
    said_goodbye: bool,
}

/// The connection is its holder's alone until this is dropped.
pub(crate) struct Hold {
    link: Arc<Link>,
    pub(crate) owner: Owner,
    _permit: OwnedSemaphorePermit,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code of others runs under these locks, so that nothing can be half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    pub(crate) fn new(
        dispatcher: Dispatcher,
        transport: Transport,
        input: Vec<u8>,
        cancel: CancelToken,
        unused: Unused,
        bounds: Bounds,
    ) -> Arc<Self> {
        let desk = Desk {
            inbox: Inbox::new(bounds),
            task: None,
            attention: Attention::Coming,
            closing: false,
            given_up: false,
            mourners: Vec::new(),
        };
        let wire = Wire {
            dispatcher,
            transport,
            input,
            at: 0,
            nap: Nap::default(),
            deaf: false,
            said_goodbye: false,
        };
        Arc::new(Self {
            inbox: Mutex::new(desk),
            wire: Mutex::new(wire),
            listeners: Listeners::new(bounds.unasked_max),
            bounds,
            cancel,
            unused,
            names: AtomicU64::new(0),
            exclusive: Arc::new(Semaphore::new(1)),
            owners: AtomicU64::new(0),
        })
    }

    /// A name that no statement, portal or savepoint of this connection has.
    pub(crate) fn name(&self) -> String {
        format!("tl{}", self.names.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Submits messages; see [`Inbox::submit`].
    pub(crate) fn submit(
        self: &Arc<Self>,
        owner: Owner,
        pipeline: &mut Pipeline,
        replies: impl IntoIterator<Item = Option<Arc<Reply>>>,
    ) -> Submitted {
        let mut desk = lock(&self.inbox);
        let submitted = desk.inbox.submit(owner, pipeline, replies);
        if submitted == Submitted::Yes {
            self.attend(desk);
        }
        submitted
    }

    /// Submits what must be sent whatever waits; see [`Inbox::put`].
    pub(crate) fn put(&self, owner: Owner, pipeline: &mut Pipeline, replies: Option<Option<Arc<Reply>>>) {
        let mut desk = lock(&self.inbox);
        if !desk.inbox.is_closed() {
            desk.inbox.put(owner, pipeline, replies);
            self.attend(desk);
        }
    }

    /// Waits until there is room for another request.
    pub(crate) async fn room(&self) {
        poll_fn(|cx| {
            if lock(&self.inbox).inbox.wait_for_room(cx.waker()) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Waits for the connection alone. What others submit from now on waits until the [`Hold`] is dropped.
    pub(crate) async fn hold(self: &Arc<Self>) -> Hold {
        let Ok(permit) = Arc::clone(&self.exclusive).acquire_owned().await else {
            unreachable!("nobody closes it");
        };
        let owner = Owner(self.owners.fetch_add(1, Ordering::Relaxed) + 1);
        lock(&self.inbox).inbox.hold(owner);
        Hold { link: Arc::clone(self), owner, _permit: permit }
    }

    /// Whether this owner has the connection for itself.
    pub(crate) fn is_held_by(&self, owner: Owner) -> bool {
        owner != Owner::ANYONE && lock(&self.inbox).inbox.holder() == owner
    }

    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.inbox).inbox.is_closed()
    }

    /// Has the task look, for another reason than something new.
    pub(crate) fn wake(&self) {
        let mut desk = lock(&self.inbox);
        desk.attention = Attention::Coming;
        let task = desk.task.clone();
        drop(desk);
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Ends the connection now: its answers are of no use any more.
    pub(crate) fn give_up(&self) {
        lock(&self.inbox).given_up = true;
        self.wake();
    }

    /// No handle is left.
    pub(crate) fn close(&self) {
        lock(&self.inbox).closing = true;
        self.wake();
    }

    /// Waits for the connection's end.
    pub(crate) async fn ended(&self) {
        poll_fn(|cx| {
            let mut desk = lock(&self.inbox);
            if desk.inbox.is_closed() {
                return Poll::Ready(());
            }
            desk.mourners.retain(|waker| !waker.will_wake(cx.waker()));
            desk.mourners.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// What the server says of itself.
    pub(crate) fn server<T>(&self, read: impl FnOnce(&trunkline_session::frontend::ServerReady) -> T) -> T {
        read(lock(&self.wire).dispatcher.server())
    }

    /// Whether the server answers this one now.
    pub(crate) fn answers(&self, reply: &Arc<Reply>) -> bool {
        lock(&self.wire).dispatcher.answers(reply)
    }

    /// Whether a transaction was open when the server answered last.
    pub(crate) fn is_in_transaction(&self) -> bool {
        lock(&self.wire).dispatcher.is_in_transaction()
    }

    /// Whether nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        lock(&self.wire).dispatcher.turns() == 0
    }

    /// Sees to it that what was just submitted is sent.
    fn attend<'l>(&'l self, mut desk: MutexGuard<'l, Desk>) {
        match std::mem::replace(&mut desk.attention, Attention::Coming) {
            Attention::Coming => return,
            Attention::Idle => {
                drop(desk);
                if let Ok(mut wire) = self.wire.try_lock()
                    && wire.send_at_once(&self.inbox)
                {
                    return;
                }
                desk = lock(&self.inbox);
            }
            Attention::Busy => {}
        }
        let task = desk.task.clone();
        drop(desk);
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl Wire {
    /// Sends what is in the inbox. `false`: the task must see to the rest.
    fn send_at_once(&mut self, inbox: &Mutex<Desk>) -> bool {
        self.dispatcher.take(&mut lock(inbox).inbox);
        let unsent = self.dispatcher.unsent();
        let whole = unsent.len();
        match self.transport.send(unsent) {
            Ok(count) if count == whole && !self.transport.holds_back() => {
                self.dispatcher.handle_sent(count);
                let mut desk = lock(inbox);
                let done = !desk.inbox.has_new();
                if done {
                    desk.attention = Attention::Busy;
                }
                done
            }
            Ok(count) => {
                self.dispatcher.handle_sent(count);
                false
            }
            // The task meets it again.
            Err(_) => false,
        }
    }

    /// Sends what can be sent.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Result<(), Cause> {
        while !self.deaf && !self.dispatcher.unsent().is_empty() {
            match self.transport.poll_send(cx, self.dispatcher.unsent()) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(count)) => self.dispatcher.handle_sent(count),
                // What the server said before it went is read first.
                Poll::Ready(Err(error)) if is_gone(&error) => self.deaf = true,
                Poll::Ready(Err(error)) => return Err(Cause::Io(error.kind(), error.to_string())),
            }
        }
        match self.transport.poll_flush(cx) {
            Poll::Ready(Err(error)) if is_gone(&error) => self.deaf = true,
            Poll::Ready(Err(error)) => return Err(Cause::Io(error.kind(), error.to_string())),
            _ => {}
        }
        Ok(())
    }

    /// Receives once and deals with it. `false`: there is nothing now, or nobody to take it.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Result<bool, Cause> {
        let before = self.at;
        self.deal()?;
        if self.dispatcher.is_full() {
            return Ok(self.at > before);
        }
        self.make_room();
        if let Some(received) = self.nap(cx)? {
            return Ok(received);
        }
        match self.transport.poll_receive(cx, &mut self.input) {
            Poll::Pending => {
                self.fall_asleep(cx)?;
                Ok(false)
            }
            Poll::Ready(Ok(0)) => Err(Cause::Ended(None)),
            Poll::Ready(Ok(_)) => {
                self.deal()?;
                Ok(true)
            }
            Poll::Ready(Err(error)) => Err(Cause::Io(error.kind(), error.to_string())),
        }
    }

    /// Goes on with a nap, if one was begun: `Some` as [`poll_receive`](Self::poll_receive). `None`: the socket is watched again.
    fn nap(&mut self, cx: &mut Context<'_>) -> Result<Option<bool>, Cause> {
        let failed = |error: io::Error| Cause::Io(error.kind(), error.to_string());
        if self.transport.is_watched() {
            return Ok(None);
        }
        if self.nap.poll(cx).is_pending() {
            return Ok(Some(false));
        }
        match self.transport.receive(&mut self.input).map_err(failed)? {
            Some(0) => return Err(Cause::Ended(None)),
            Some(_) => self.deal()?,
            None => {}
        }
        self.nap.end(&self.dispatcher);
        if self.nap.is_worthwhile(&self.dispatcher) {
            self.nap.begin(&self.dispatcher);
            return Ok(Some(self.nap.poll(cx).is_ready()));
        }
        self.transport.watch().map_err(failed)?;
        Ok(None)
    }

    /// Nothing has come; while much is under way, the task looks again after some time, instead of being woken for each answer.
    fn fall_asleep(&mut self, cx: &mut Context<'_>) -> Result<(), Cause> {
        if self.nap.is_worthwhile(&self.dispatcher)
            && self.dispatcher.unsent().is_empty()
            && !self.transport.holds_back()
        {
            self.transport.unwatch().map_err(|error| Cause::Io(error.kind(), error.to_string()))?;
            self.nap.begin(&self.dispatcher);
            if self.nap.poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
        }
        Ok(())
    }

    fn deal(&mut self) -> Result<(), Cause> {
        if let Some(rest) = self.input.get(self.at..).filter(|rest| !rest.is_empty()) {
            self.at += self.dispatcher.handle_input(rest)?;
        }
        Ok(())
    }

    /// Moves what is not consumed to the front of the buffer.
    fn make_room(&mut self) {
        let left = self.input.len() - self.at;
        if left == 0 {
            self.input.clear();
            if self.input.capacity() > KEPT_BYTES_MAX {
                self.input = Vec::new();
            }
        } else if self.at > 0 {
            self.input.copy_within(self.at.., 0);
            self.input.truncate(left);
        }
        self.at = 0;
    }
}

/// The task that waits for the socket. It ends when the connection does.
pub(crate) struct Task(pub(crate) Arc<Link>);

impl Future for Task {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let link = &*self.0;
        let mut wire = lock(&link.wire);
        match poll_wire(link, &mut wire, cx) {
            Ok(()) => Poll::Pending,
            Err(cause) => {
                end(link, &mut wire, &cause);
                Poll::Ready(())
            }
        }
    }
}

impl Drop for Task {
    /// The runtime may end before the connection does.
    fn drop(&mut self) {
        let mut wire = lock(&self.0.wire);
        if !wire.dispatcher.is_over() {
            let cause = Cause::Io(io::ErrorKind::Other, "the runtime has ended".to_owned());
            end(&self.0, &mut wire, &cause);
        }
    }
}

fn end(link: &Link, wire: &mut Wire, cause: &Cause) {
    let mut desk = lock(&link.inbox);
    wire.dispatcher.end(&mut desk.inbox, cause);
    let mourners = std::mem::take(&mut desk.mourners);
    drop(desk);
    mourners.into_iter().for_each(Waker::wake);
    link.listeners.end();
}

/// Sends and receives until nothing more can be done now.
fn poll_wire(link: &Link, wire: &mut Wire, cx: &mut Context<'_>) -> Result<(), Cause> {
    loop {
        let closing = {
            let mut desk = lock(&link.inbox);
            desk.attention = Attention::Coming;
            if !desk.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
                desk.task = Some(cx.waker().clone());
            }
            wire.dispatcher.take(&mut desk.inbox);
            if desk.given_up {
                return Err(Cause::Io(io::ErrorKind::TimedOut, "a query has not ended in time".to_owned()));
            }
            desk.closing
        };
        wire.dispatcher.has_listeners = link.listeners.any();
        wire.poll_send(cx)?;
        let received = wire.poll_receive(cx);
        link.listeners.tell(&mut wire.dispatcher.unasked);
        if received? {
            continue;
        }
        if closing && wire.dispatcher.turns() == 0 {
            if !wire.said_goodbye {
                wire.said_goodbye = true;
                wire.dispatcher.terminate();
                wire.poll_send(cx)?;
            }
            if wire.deaf || wire.dispatcher.unsent().is_empty() {
                return Err(Cause::Ended(None));
            }
        }
        let mut desk = lock(&link.inbox);
        if desk.inbox.has_new() {
            continue;
        }
        // What was answered has made room.
        wire.dispatcher.note(&mut desk.inbox);
        let quiet = wire.dispatcher.turns() == 0 && wire.dispatcher.unsent().is_empty();
        desk.attention = if quiet { Attention::Idle } else { Attention::Busy };
        return Ok(());
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("server", &self.cancel).finish_non_exhaustive()
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut desk = lock(&self.link.inbox);
        desk.inbox.release();
        if desk.inbox.has_new() {
            self.link.attend(desk);
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
