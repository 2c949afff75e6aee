//! The CPU time in nanoseconds and the resident memory of a process, from /proc.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// CPU time of each thread of a process, user and system, in the kernel's own nanoseconds.
///
/// `/proc/PID/stat` counts in ticks of 10 ms; `schedstat` has the scheduler's own counts. These exist for each thread only, so the
/// time of a thread that has ended is lost. The proxies' threads do not end.
///
/// # Errors
/// When the process is gone, or the kernel keeps no such statistics (`CONFIG_SCHED_INFO`).
pub(crate) fn threads(pid: u32) -> Result<Vec<Duration>> {
    let folder = format!("/proc/{pid}/task");
    let mut times = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("process {pid} is gone"))? {
        let path = entry?.path().join("schedstat");
        // A thread may end while its folder is read.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let first = text.split_whitespace().next().and_then(|number| number.parse().ok());
        times.push(Duration::from_nanos(first.with_context(|| format!("{} has no time", path.display()))?));
    }
    anyhow::ensure!(
        !times.is_empty(),
        "this kernel has no /proc/PID/task/*/schedstat: CPU time cannot be measured"
    );
    Ok(times)
}

/// CPU time of all threads of a process.
///
/// # Errors
/// As [`threads`].
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    Ok(threads(pid)?.into_iter().sum())
}

/// Resident memory in bytes, from `smaps_rollup`, which is exact. (The kernel updates `status` only in batches for each core.)
///
/// # Errors
/// When the process is gone, or is another user's and we are not root.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib: Option<u64> =
        line.and_then(|line| line.trim().strip_suffix("kB")).and_then(|n| n.trim().parse().ok());
    Ok(kib.with_context(|| format!("{path} has no Rss line"))? * 1024)
}

/// The median: the middle value, or the mean of the two middle ones. `None` if there are no values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((upper + sorted[sorted.len() / 2 - 1]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_costs_are_readable_and_grow() {
        let pid = std::process::id();
        let before = cpu(pid).expect("CPU time");
        let mut held = Vec::new();
        while cpu(pid).expect("CPU time") < before + Duration::from_millis(20) {
            held.push(held.len());
        }
        let resident = resident(pid).expect("memory");
        assert!((100_000..100_000_000_000).contains(&resident), "{resident} bytes, {} held", held.len());
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }
}
