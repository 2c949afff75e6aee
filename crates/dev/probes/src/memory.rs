//! Measures how far the proxy's resident memory rises during a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use trunkline_testkit::Proxy;
use trunkline_testkit::process::rss_kib;

/// The interval between two measurements. A shorter peak may be missed.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Measures the proxy's resident memory from [`MemoryWatch::start`] to [`MemoryWatch::rise_kib`].
#[derive(Debug)]
pub struct MemoryWatch {
    before: u64,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl MemoryWatch {
    /// Remembers the memory that the proxy uses now, and begins to measure.
    ///
    /// # Panics
    /// When the proxy has ended.
    pub fn start(proxy: &Proxy) -> Self {
        let before = proxy.rss_kib().expect("the proxy runs");
        let (pid, stop) = (proxy.pid(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut peak = before;
            while !stopped.load(Ordering::Relaxed) {
                // The proxy has ended. The test finds that out by itself.
                peak = peak.max(rss_kib(pid).unwrap_or_default());
                std::thread::sleep(LOOK_INTERVAL);
            }
            peak.max(rss_kib(pid).unwrap_or_default())
        });
        Self { before, stop, thread }
    }

    /// Ends, and returns by how many KiB the peak lies above the beginning.
    ///
    /// # Panics
    /// When the measuring thread has panicked.
    pub fn rise_kib(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the watching thread") - self.before
    }
}
