//! Ports for servers under test, such that no two tests get the same.

use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, anyhow, bail};

/// Ports are taken from below those that the kernel gives to outgoing connections (32768 and up).
const FIRST_PORT: u16 = 10_000;
/// How many a process has to itself, and how many processes there is room for.
const PORTS_A_PROCESS: u16 = 100;
const PROCESSES: u16 = 100;

/// A range of ports, ours as long as the process lives.
#[derive(Debug)]
struct Range {
    first: u16,
    next: AtomicU16,
    /// A name that only one process can hold; the kernel takes it back when the process ends, however it ends.
    _claim: UnixListener,
}

impl Range {
    /// Claims a range that no other process has.
    fn claim() -> Result<Self> {
        for number in 0..PROCESSES {
            let name = SocketAddr::from_abstract_name(format!("trunkline-testkit-ports-{number}"))?;
            if let Ok(claim) = UnixListener::bind_addr(&name) {
                let first = FIRST_PORT + number * PORTS_A_PROCESS;
                return Ok(Self { first, next: AtomicU16::new(0), _claim: claim });
            }
        }
        bail!("{PROCESSES} processes have all ports for tests")
    }

    fn port(&self) -> Result<u16> {
        for _ in 0..PORTS_A_PROCESS {
            let port = self.first + self.next.fetch_add(1, Ordering::Relaxed) % PORTS_A_PROCESS;
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(port);
            }
        }
        bail!("no free port on 127.0.0.1 from {} on", self.first)
    }
}

/// A TCP port on 127.0.0.1 that nothing listens on at the moment of the call. No other process that asks here is given
/// it, nor this one again before the others of its range: the proxy shares a port with a process that listens on it
/// already, so that two tests with one port would get each other's clients.
///
/// # Errors
/// When all ports are taken.
pub fn free_port() -> Result<u16> {
    static RANGE: OnceLock<Result<Range, String>> = OnceLock::new();
    let range = RANGE.get_or_init(|| Range::claim().map_err(|error| format!("{error:#}")));
    range.as_ref().map_err(|error| anyhow!(error.clone()))?.port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_processes_have_the_same_ports() {
        // What a second process would do.
        let (one, other) = (Range::claim().expect("a range"), Range::claim().expect("another"));
        assert_ne!(one.first, other.first);
    }

    #[test]
    fn a_port_in_use_is_passed_over_and_none_is_given_twice_in_a_row() {
        let range = Range::claim().expect("a range");
        let first = range.port().expect("a port");
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, range.first + 1));
        let second = range.port().expect("a port");
        assert!(second > first + 1 && second < range.first + PORTS_A_PROCESS, "{first} {second}");
    }
}
