//! Reads /proc, sends signals to processes, and waits for their end.

use std::fs;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

/// Ticks a second in the times of /proc/PID/stat. On Linux this is always 100 for user space (USER_HZ).
const TICKS_PER_SECOND: u64 = 100;
/// The interval between two looks at a process whose end causes no event.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Sends `signal` to process `pid`.
///
/// # Errors
/// When there is no such process, or it is not ours to signal.
pub fn send_signal(pid: u32, signal: Signal) -> Result<()> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = number.with_context(|| format!("{pid} is no process id"))?;
    kill_process(pid, signal).with_context(|| format!("cannot send {signal:?} to process {pid:?}"))
}

/// CPU time that process `pid` has used, all its threads together, in user and kernel mode.
///
/// # Errors
/// When there is no such process.
pub fn cpu_time(pid: u32) -> Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The command's name stands in brackets and may itself contain spaces and brackets, so fields are counted from its end.
    let (_, fields) = text.rsplit_once(')').with_context(|| format!("{path} has no command name"))?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |index: usize| -> Result<u64> {
        fields.get(index).and_then(|field| field.parse().ok()).with_context(|| format!("{path} is short"))
    };
    let (user, system) = (ticks(11)?, ticks(12)?);
    Ok(Duration::from_millis((user + system) * 1000 / TICKS_PER_SECOND))
}

/// Resident memory of process `pid`, in KiB.
///
/// # Errors
/// When there is no such process.
pub fn rss_kib(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("{path} has no VmRSS: has it ended?"))
}

/// Waits until `child` has ended.
///
/// # Errors
/// When it still runs after `limit`.
pub fn wait_for_exit(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            bail!("process {} still runs after {limit:?}", child.id());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_time_and_memory_are_readable() {
        let pid = std::process::id();
        let before = cpu_time(pid).expect("time");
        let started = Instant::now();
        let mut sum = 0_u64;
        while cpu_time(pid).expect("time") < before + Duration::from_millis(50) {
            assert!(started.elapsed() < Duration::from_secs(60), "a busy loop must cost time");
            sum = sum.wrapping_add(sum ^ 7);
        }
        assert!(rss_kib(pid).expect("memory") > 500, "{sum}");
    }
}
