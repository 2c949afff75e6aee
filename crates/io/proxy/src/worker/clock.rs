//! A clock that wakes the worker at a fixed pace.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use super::token;

/// A timer descriptor of the kernel's.
pub(super) struct Clock {
    timer: OwnedFd,
}

impl Clock {
    /// Strikes every `pace` from now on.
    pub(super) fn start(pace: Duration, registry: &Registry) -> io::Result<Self> {
        let timer = rustix::time::timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        let pace = Timespec::try_from(pace).map_err(io::Error::other)?;
        let every = Itimerspec { it_interval: pace, it_value: pace };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &every)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), token::CLOCK, Interest::READABLE)?;
        Ok(Self { timer })
    }

    /// Whether it has ticked since it was asked last.
    pub(super) fn has_ticked(&self) -> bool {
        let mut expirations = [0; 8];
        rustix::io::read(&self.timer, &mut expirations).is_ok()
    }
}
