//! A client that runs queries beside a probe and must not be affected by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use trunkline_testkit::cluster::APP_USER;
use trunkline_testkit::{PATIENCE, Proxy, RawClient};

use crate::login;

/// The pause between two queries. Without it, the bystander itself would keep the machine busy.
const REST: Duration = Duration::from_millis(1);

/// Runs one small query after the other on a connection of its own until [`Bystander::finish`].
#[derive(Debug)]
pub struct Bystander {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    thread: JoinHandle<Result<Duration, String>>,
}

impl Bystander {
    /// Logs in as `app` and begins. From then on, its connection must not be lost.
    ///
    /// # Panics
    /// When the login or the first query fails.
    pub fn start(proxy: &Proxy) -> Self {
        Self::start_as(proxy, APP_USER)
    }

    /// As [`Bystander::start`], as another user.
    ///
    /// # Panics
    /// As [`Bystander::start`].
    pub fn start_as(proxy: &Proxy, user: &str) -> Self {
        let mut client = login(proxy, user);
        assert_eq!(client.sql("select 42").expect("the first query"), ["42"]);
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&answered));
        let thread = std::thread::spawn(move || {
            let mut slowest = Duration::ZERO;
            while !stopped.load(Ordering::Relaxed) {
                slowest = slowest.max(ask(&mut client)?);
                count.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(REST);
            }
            Ok(slowest)
        });
        Self { stop, answered, thread }
    }

    /// How many queries have been answered.
    pub fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    /// Waits until `count` more queries have been answered.
    ///
    /// # Panics
    /// When they are not answered in time.
    pub fn wait_for(&self, count: usize) {
        let (wanted, deadline) = (self.answered() + count, Instant::now() + PATIENCE);
        while self.answered() < wanted {
            assert!(Instant::now() < deadline && !self.thread.is_finished(), "the bystander is stuck");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops after some more queries, and returns the time of the slowest query.
    ///
    /// # Panics
    /// When a query failed or got a wrong answer.
    pub fn finish(self) -> Duration {
        if !self.thread.is_finished() {
            self.wait_for(2);
        }
        self.stop.store(true, Ordering::Relaxed);
        let outcome = self.thread.join().expect("the bystander's thread");
        outcome.unwrap_or_else(|error| panic!("a bystander was disturbed: {error}"))
    }
}

/// Runs one query by each protocol, and returns the time.
fn ask(client: &mut RawClient) -> Result<Duration, String> {
    let begun = Instant::now();
    let simple = client.sql("select 42").map_err(|error| format!("{error:#}"))?;
    let extended =
        client.extended("select $1::int + 1", &[Some("6")]).map_err(|error| format!("{error:#}"))?;
    if simple != ["42"] || extended != ["7"] {
        return Err(format!("wrong answers: {simple:?}, {extended:?}"));
    }
    Ok(begun.elapsed())
}
