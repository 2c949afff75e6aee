//! Ports for servers under test. No two tests get the same one.

use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, anyhow, bail};

/// The first port of all ranges. They lie below the ports that the kernel uses for outgoing connections (32768 and up).
const FIRST_PORT: u16 = 10_000;
/// How many ports a process has for itself, and how many processes can have a range.
const PORTS_A_PROCESS: u16 = 100;
const PROCESSES: u16 = 100;

/// A range of ports that belongs to this process as long as it lives.
#[derive(Debug)]
struct Range {
    first: u16,
    next: AtomicU16,
    /// A name that only one process can hold. The kernel frees it when the process ends, also after a crash.
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

/// A TCP port on 127.0.0.1 on which nothing listens at the moment of the call. Other processes never get it from this
/// function, and this process gets it again only after all others of its range. The proxy can share a port with another
/// process that listens on it, so two tests with the same port would get each other's clients.
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
        // A second process would do the same.
        let (one, other) = (Range::claim().expect("a range"), Range::claim().expect("another"));
        assert_ne!(one.first, other.first);
    }

    #[test]
    fn used_ports_are_skipped_and_no_port_is_given_twice_in_a_row() {
        let range = Range::claim().expect("a range");
        let first = range.port().expect("a port");
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, range.first + 1));
        let second = range.port().expect("a port");
        assert!(second > first + 1 && second < range.first + PORTS_A_PROCESS, "{first} {second}");
    }
}
