//! A pool in which each turn uses another server connection than the turn before.

use trunkline_testkit::cluster::APP_USER;
use trunkline_testkit::{Frame, Proxy};

use crate::{Setup, login};

/// Knows which server connection the next turn uses. This is true as long as only the test uses the pool, with one turn at a
/// time, and no client logs in with start-up parameters that are new to the pool (the proxy tries these on a connection).
#[derive(Debug)]
pub struct Rotation {
    /// Process ids of the server connections, the next one first.
    pids: Vec<String>,
}

impl Rotation {
    /// The settings that a rotation needs: one worker, `size` server connections, and the connection that was idle for the
    /// longest time is used next.
    #[must_use]
    pub fn setup(setup: Setup, size: i64) -> Setup {
        setup.set("workers", 1).set("pool.pool_size", size).set("pool.server_round_robin", true)
    }

    /// Opens all server connections of `app`'s pool. Log all clients in before.
    ///
    /// # Panics
    /// When they cannot be opened, or two transactions at once share one.
    pub fn warm(proxy: &Proxy, size: usize) -> Self {
        let mut clients: Vec<_> = (0..size).map(|_| login(proxy, APP_USER)).collect();
        let mut pids = Vec::new();
        for client in &mut clients {
            client.sql("begin").expect("begin");
            pids.extend(client.sql("select pg_backend_pid()").expect("a process id"));
        }
        clients.iter_mut().for_each(|client| drop(client.sql("commit").expect("commit")));
        let mut distinct = pids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), size, "each transaction has a server connection of its own: {pids:?}");
        Self { pids }
    }

    /// Counts one turn (or one transaction), and returns the process id of its server connection.
    pub fn turn(&mut self) -> String {
        self.pids.rotate_left(1);
        self.pids.last().cloned().unwrap_or_default()
    }

    /// Notes that of the last two turns, the later one ended first.
    pub fn swap_last(&mut self) {
        let count = self.pids.len();
        self.pids.swap(count - 1, count - 2);
    }
}

/// The rows among `frames`, as `psql -At` prints them.
///
/// # Panics
/// When a row is malformed.
pub fn values(frames: &[Frame]) -> Vec<String> {
    let rows = frames.iter().filter(|frame| frame.tag == b'D');
    let text = |row: &Frame| {
        let columns = row.columns().expect("a row").into_iter();
        let texts = columns.map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned());
        texts.collect::<Vec<_>>().join("|")
    };
    rows.map(text).collect()
}

/// The SQLSTATEs of the errors among `frames`.
pub fn errors(frames: &[Frame]) -> Vec<String> {
    frames.iter().filter_map(Frame::sqlstate).collect()
}
