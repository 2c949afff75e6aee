//! How far the proxy's resident memory rises while something is done to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use trunkline_testkit::Proxy;
use trunkline_testkit::process::rss_kib;

/// How often memory is looked at: a peak shorter than this may be missed.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Looks at the proxy's resident memory from [`MemoryWatch::start`] to [`MemoryWatch::rise_kib`].
#[derive(Debug)]
pub struct MemoryWatch {
    before: u64,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl MemoryWatch {
    /// Notes what the proxy uses now, and begins.
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
                // A proxy that has ended is for the test to find out.
                peak = peak.max(rss_kib(pid).unwrap_or_default());
                std::thread::sleep(LOOK_INTERVAL);
            }
            peak.max(rss_kib(pid).unwrap_or_default())
        });
        Self { before, stop, thread }
    }

    /// Ends, and gives by how many KiB the peak lies above the beginning.
    ///
    /// # Panics
    /// When the watching thread did.
    pub fn rise_kib(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the watching thread") - self.before
    }
}
