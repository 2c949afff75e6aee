//! What the server says to nobody in particular, for those that listen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use trunkline_driver_blocking::{Notice, Notification};

use crate::dispatch::Unasked;

/// Channels, made when somebody listens for the first time.
pub(crate) struct Listeners {
    unasked_max: usize,
    channels: Mutex<Channels>,
    any: AtomicBool,
}

#[derive(Default)]
struct Channels {
    notices: Option<Sender<Notice>>,
    notifications: Option<Sender<Notification>>,
    ended: bool,
}

impl Listeners {
    pub(crate) fn new(unasked_max: usize) -> Self {
        Self { unasked_max: unasked_max.max(1), channels: Mutex::default(), any: AtomicBool::new(false) }
    }

    fn with<T>(&self, action: impl FnOnce(&mut Channels) -> T) -> T {
        action(&mut self.channels.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether anybody listens.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Hands out what was said, and empties it.
    pub(crate) fn tell(&self, said: &mut Vec<Unasked>) {
        if said.is_empty() {
            return;
        }
        self.with(|channels| {
            for said in said.drain(..) {
                match (said, &channels.notices, &channels.notifications) {
                    (Unasked::Notice(notice), Some(sender), _) => drop(sender.send(notice)),
                    (Unasked::Notification(notification), _, Some(sender)) => {
                        drop(sender.send(notification));
                    }
                    _ => {}
                }
            }
        });
    }

    /// The connection has ended: listeners hear the rest, then the end.
    pub(crate) fn end(&self) {
        self.with(|channels| *channels = Channels { ended: true, ..Channels::default() });
    }

    pub(crate) fn notices(&self) -> Notices {
        self.any.store(true, Ordering::Relaxed);
        Notices(Listener::new(
            self.with(|channels| subscribe(&mut channels.notices, self.unasked_max, channels.ended)),
        ))
    }

    pub(crate) fn notifications(&self) -> Notifications {
        self.any.store(true, Ordering::Relaxed);
        Notifications(Listener::new(
            self.with(|channels| subscribe(&mut channels.notifications, self.unasked_max, channels.ended)),
        ))
    }
}

fn subscribe<T: Clone>(sender: &mut Option<Sender<T>>, capacity: usize, ended: bool) -> Receiver<T> {
    if ended {
        return channel(1).1;
    }
    sender.get_or_insert_with(|| channel(capacity).0).subscribe()
}

struct Listener<T> {
    receiver: Receiver<T>,
    dropped: u64,
}

impl<T: Clone> Listener<T> {
    fn new(receiver: Receiver<T>) -> Self {
        Self { receiver, dropped: 0 }
    }

    async fn next(&mut self) -> Option<T> {
        loop {
            match self.receiver.recv().await {
                Ok(said) => return Some(said),
                Err(RecvError::Lagged(count)) => self.dropped += count,
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

/// What NOTIFY said on channels that the connection listens to (`LISTEN`), from when this was made on.
pub struct Notifications(Listener<Notification>);

/// Warnings and notices of the server, from when this was made on.
pub struct Notices(Listener<Notice>);

impl Notifications {
    /// The next one; `None` when the connection has ended. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Option<Notification> {
        self.0.next().await
    }

    /// How many were dropped because this was too slow (see [`Bounds::unasked_max`](crate::Bounds::unasked_max)).
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped
    }
}

impl Notices {
    /// The next one; `None` when the connection has ended. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Option<Notice> {
        self.0.next().await
    }

    /// How many were dropped because this was too slow (see [`Bounds::unasked_max`](crate::Bounds::unasked_max)).
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped
    }
}

impl std::fmt::Debug for Notifications {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notifications").field("dropped", &self.0.dropped).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notices").field("dropped", &self.0.dropped).finish_non_exhaustive()
    }
}
