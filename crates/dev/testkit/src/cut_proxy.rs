//! A TCP relay that can cut connections, stop passing bytes, or pass only a part of them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, ensure};

use crate::PATIENCE;

/// The most bytes that the relay reads at once.
const READ_BYTES: usize = 64 * 1024;

/// The direction of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the peer that connected to the relay.
    ToServer,
    /// From the peer that the relay connected to.
    ToClient,
}

/// The rules of both directions, and the connections to which they apply.
#[derive(Debug, Default)]
struct Rules {
    stalled: [bool; 2],
    /// How many more bytes may pass before every connection is cut; `None`: no limit.
    allowance: [Option<usize>; 2],
    passed: [usize; 2],
    refusing: bool,
    closing: bool,
    accepted: usize,
    open: Vec<(usize, TcpStream, TcpStream)>,
}

impl Rules {
    fn cut_all(&mut self) {
        for (_, client, server) in self.open.drain(..) {
            // A side that is already gone gives an error here, which does not matter.
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    }
}

type Shared = Arc<(Mutex<Rules>, Condvar)>;

/// The relay. Dropping it cuts everything.
#[derive(Debug)]
pub struct CutProxy {
    address: SocketAddr,
    shared: Shared,
    listener: Option<JoinHandle<()>>,
}

impl CutProxy {
    /// Listens on a free port of 127.0.0.1 and relays to `upstream`.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start(upstream: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let address = listener.local_addr()?;
        let shared = Shared::default();
        let ours = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if rules(&ours).closing {
                    break;
                }
                // If a connection cannot be relayed, it is closed, like one that is cut.
                let _ = relay(client, upstream, &ours);
            }
        });
        Ok(Self { address, shared, listener: Some(thread) })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it has relayed so far.
    pub fn accepted(&self) -> usize {
        rules(&self.shared).accepted
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        rules(&self.shared).open.len()
    }

    /// How many bytes have gone one way.
    pub fn passed(&self, direction: Direction) -> usize {
        rules(&self.shared).passed[direction as usize]
    }

    /// Cuts all open connections; new ones are relayed.
    pub fn cut(&self) {
        rules(&self.shared).cut_all();
        self.shared.1.notify_all();
    }

    /// Passes exactly `bytes` more bytes in this direction, then cuts all open connections, once.
    pub fn cut_after(&self, direction: Direction, bytes: usize) {
        rules(&self.shared).allowance[direction as usize] = Some(bytes);
    }

    /// Stops passing bytes in this direction until [`CutProxy::resume`].
    pub fn stall(&self, direction: Direction) {
        rules(&self.shared).stalled[direction as usize] = true;
    }

    /// Passes everything again.
    pub fn resume(&self) {
        let mut rules = rules(&self.shared);
        rules.stalled = [false; 2];
        rules.refusing = false;
        self.shared.1.notify_all();
    }

    /// Closes new connections at once until [`CutProxy::resume`].
    pub fn refuse(&self) {
        rules(&self.shared).refusing = true;
    }

    /// Waits until no more than `count` connections are open.
    ///
    /// # Errors
    /// When more stay open.
    pub fn wait_until_open(&self, count: usize) -> Result<()> {
        let waited =
            self.shared.1.wait_timeout_while(rules(&self.shared), PATIENCE, |rules| rules.open.len() > count);
        let (rules, _) = waited.unwrap_or_else(PoisonError::into_inner);
        ensure!(rules.open.len() <= count, "{} connections are open after {PATIENCE:?}", rules.open.len());
        Ok(())
    }
}

impl Drop for CutProxy {
    fn drop(&mut self) {
        {
            let mut rules = rules(&self.shared);
            rules.closing = true;
            rules.stalled = [false; 2];
            rules.cut_all();
        }
        self.shared.1.notify_all();
        // One more connection wakes the listener up, so that it sees the flag.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.listener.take() {
            let _ = thread.join();
        }
    }
}

fn rules(shared: &Shared) -> MutexGuard<'_, Rules> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

fn relay(client: TcpStream, upstream: SocketAddr, shared: &Shared) -> Result<()> {
    if rules(shared).refusing {
        return Ok(());
    }
    let server = TcpStream::connect(upstream)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let number = {
        let mut rules = rules(shared);
        rules.accepted += 1;
        let number = rules.accepted;
        rules.open.push((number, client.try_clone()?, server.try_clone()?));
        number
    };
    let back = (server.try_clone()?, client.try_clone()?, Arc::clone(shared));
    let out = (client, server, Arc::clone(shared));
    thread::spawn(move || pump(out.0, out.1, Direction::ToServer, number, &out.2));
    thread::spawn(move || pump(back.0, back.1, Direction::ToClient, number, &back.2));
    Ok(())
}

/// Passes bytes in one direction until either side ends, then ends both sides.
fn pump(mut from: TcpStream, mut to: TcpStream, direction: Direction, number: usize, shared: &Shared) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count) = from.read(&mut buffer) {
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        let allowed = allow(shared, direction, number, count);
        let whole = allowed == count;
        if to.write_all(bytes.get(..allowed).unwrap_or_default()).is_err() {
            break;
        }
        if !whole {
            rules(shared).cut_all();
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
    rules(shared).open.retain(|(open, _, _)| *open != number);
    shared.1.notify_all();
}

/// Waits while the direction is stalled, then says how many of `count` bytes may pass.
fn allow(shared: &Shared, direction: Direction, number: usize, count: usize) -> usize {
    let index = direction as usize;
    let stalled =
        |rules: &mut Rules| rules.stalled[index] && rules.open.iter().any(|(open, _, _)| *open == number);
    let waited = shared.1.wait_while(rules(shared), stalled);
    let mut rules = waited.unwrap_or_else(PoisonError::into_inner);
    let allowed = match rules.allowance[index] {
        // When exactly the allowed bytes have passed, connections stay open. The next byte cuts them.
        Some(left) if left >= count => {
            rules.allowance[index] = Some(left - count);
            count
        }
        Some(left) => {
            rules.allowance[index] = None;
            left
        }
        None => count,
    };
    rules.passed[index] += allowed;
    allowed
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::raw::{RawClient, RawServer};

    fn pair() -> (RawServer, CutProxy) {
        let server = RawServer::start(|peer| {
            peer.handshake()?;
            while peer.frame().is_ok() {
                peer.answer("0123456789")?;
            }
            Ok(())
        })
        .expect("a server");
        let relay = CutProxy::start(server.address()).expect("a relay");
        (server, relay)
    }

    #[test]
    fn connections_are_cut_after_the_given_byte() {
        let (_server, relay) = pair();
        let mut client = RawClient::login(relay.address(), "u", "", "d").expect("a login");
        assert_eq!(client.sql("select").expect("rows"), ["0123456789"]);
        let before = relay.passed(Direction::ToClient);
        relay.cut_after(Direction::ToClient, 7);
        assert!(client.sql("select").is_err());
        assert_eq!(relay.passed(Direction::ToClient), before + 7);
        relay.wait_until_open(0).expect("closed");
        RawClient::login(relay.address(), "u", "", "d").expect("the next one passes");
    }

    #[test]
    fn a_stalled_direction_resumes() {
        let (_server, relay) = pair();
        let mut client = RawClient::login(relay.address(), "u", "", "d").expect("a login");
        relay.stall(Direction::ToClient);
        client.set_read_limit(Duration::from_millis(100)).expect("limit");
        client.send_messages(&crate::Messages::new().query("select")).expect("sent");
        assert!(client.frame().is_err(), "nothing may come through");
        relay.resume();
        client.set_read_limit(PATIENCE).expect("limit");
        assert_eq!(client.until_ready().expect("frames").len(), 4);
    }
}
