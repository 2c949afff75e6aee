//! A clock that wakes the worker at a fixed interval.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use super::token;

/// A periodic timer of the kernel (timerfd).
pub(super) struct Clock {
    timer: OwnedFd,
}

impl Clock {
    /// Ticks each time `interval` has passed.
    pub(super) fn start(interval: Duration, registry: &Registry) -> io::Result<Self> {
        let timer = rustix::time::timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        let interval = Timespec::try_from(interval).map_err(io::Error::other)?;
        let every = Itimerspec { it_interval: interval, it_value: interval };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &every)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token::CLOCK, Interest::READABLE)?;
        Ok(Self { timer })
    }

    /// Whether the clock has ticked since the last call.
    pub(super) fn has_ticked(&self) -> bool {
        let mut expirations = [0; 8];
        rustix::io::read(&self.timer, &mut expirations).is_ok()
    }
}
