//! The sockets that clients connect to.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use mio::net::TcpListener;
use socket2::{Domain, Socket, Type};
use trunkline_net::listen::{self, UnixSocketFile};

use crate::config::General;
use crate::worker::Listener;

/// The port in the unix socket's name if there is no TCP address.
const DEFAULT_PORT: u16 = 6432;

/// Every worker's listening sockets.
pub(super) struct Listeners {
    /// The listening sockets of each worker.
    pub(super) workers: Vec<Vec<Listener>>,
    /// The addresses of the sockets, for the log.
    pub(super) addresses: Vec<String>,
    /// Removes the file of the unix socket when it is dropped.
    _file: Option<UnixSocketFile>,
}

/// Listens on the addresses of `general`, for `workers` workers.
///
/// # Errors
/// An address cannot be bound. The error names the address and the reason, and says what to do.
pub(super) fn bind(general: &General, workers: usize) -> io::Result<Listeners> {
    let backlog = i32::try_from(general.listen_backlog).unwrap_or(i32::MAX);
    let mut all =
        Listeners { workers: (0..workers).map(|_| Vec::new()).collect(), addresses: Vec::new(), _file: None };
    let mut port = None;
    for address in &general.listen {
        let (sockets, mut failure) = (address.sockets(), None);
        let before = all.addresses.len();
        for socket in sockets {
            match all.add_tcp(socket, backlog, general.so_reuseport) {
                Ok(bound) => port = port.or(Some(bound.port())),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied) =>
                {
                    return Err(with_advice(&error));
                }
                // `*` and `localhost` have a socket for each address family. One may fail because the machine lacks it.
                Err(error) => failure = Some(error),
            }
        }
        if let Some(failure) = failure.filter(|_| all.addresses.len() == before) {
            return Err(with_advice(&failure));
        }
    }
    if let Some(directory) = &general.unix_socket_dir {
        let mode = general.unix_socket_mode.bits();
        all.add_unix(directory, port.unwrap_or(DEFAULT_PORT), mode, backlog)
            .map_err(|error| with_advice(&error))?;
    }
    Ok(all)
}

impl Listeners {
    fn add_tcp(&mut self, wanted: SocketAddr, backlog: i32, reuse_port: bool) -> io::Result<SocketAddr> {
        let shared = reuse_port && is_taken(wanted);
        let first = listen::tcp(wanted, backlog, reuse_port)?;
        let bound = first.local_addr()?;
        if shared {
            // An operator may want this, to replace one program by another without a gap. If it is a mistake, only this
            // warning shows it.
            tracing::warn!(
                "another process listens on {bound} too (SO_REUSEPORT): each of the two gets a part of the clients"
            );
        }
        let another = |first: &TcpListener| match reuse_port {
            true => listen::tcp(bound, backlog, true),
            false => listen::clone_tcp(first),
        };
        let others = (1..self.workers.len()).map(|_| another(&first)).collect::<io::Result<Vec<_>>>()?;
        for (worker, listener) in self.workers.iter_mut().zip(std::iter::once(first).chain(others)) {
            worker.push(Listener::Tcp(listener));
        }
        self.addresses.push(bound.to_string());
        Ok(bound)
    }

    fn add_unix(&mut self, directory: &Path, port: u16, mode: u32, backlog: i32) -> io::Result<()> {
        let path = directory.join(format!(".s.PGSQL.{port}"));
        let (first, file) = listen::unix(&path, mode, backlog)?;
        let others =
            (1..self.workers.len()).map(|_| listen::clone_unix(&first)).collect::<io::Result<Vec<_>>>()?;
        for (worker, listener) in self.workers.iter_mut().zip(std::iter::once(first).chain(others)) {
            worker.push(Listener::Unix(listener));
        }
        self.addresses.push(path.display().to_string());
        self._file = Some(file);
        Ok(())
    }
}

/// Whether another socket listens on `address`, with SO_REUSEPORT or without: a bind without SO_REUSEPORT then fails.
fn is_taken(address: SocketAddr) -> bool {
    let bind = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&address.into())
    };
    bind().is_err_and(|error: io::Error| error.kind() == io::ErrorKind::AddrInUse)
}

/// The error with advice about what to do.
fn with_advice(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse if !text.contains("stop it") => {
            "another program listens there: stop it, or choose another address with `listen`"
        }
        io::ErrorKind::PermissionDenied => {
            "this user may not listen there: ports below 1024 and other users' directories need privileges"
        }
        io::ErrorKind::AddrNotAvailable => "no interface of this machine has that address",
        io::ErrorKind::NotFound => "create the directory, or change `unix_socket_dir`",
        _ => return io::Error::new(error.kind(), text),
    };
    io::Error::new(error.kind(), format!("{text}; {advice}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::config::ListenAddress;

    fn general(address: &str) -> General {
        let address = ListenAddress::One(address.parse().expect("an address"));
        General { listen: vec![address], ..General::default() }
    }

    fn port(listener: &Listener) -> u16 {
        match listener {
            Listener::Tcp(listener) => listener.local_addr().expect("bound").port(),
            Listener::Unix(_) => panic!("a unix socket"),
        }
    }

    #[test]
    fn each_worker_listens_on_the_same_port() {
        for so_reuseport in [true, false] {
            let general = General { so_reuseport, ..general("127.0.0.1:0") };
            let listeners = bind(&general, 3).expect("bound");
            let ports: Vec<u16> = listeners.workers.iter().map(|worker| port(&worker[0])).collect();
            assert_eq!(ports.len(), 3);
            assert!(ports[0] != 0 && ports.iter().all(|port| *port == ports[0]), "{ports:?}");
            assert_eq!(listeners.addresses, [format!("127.0.0.1:{}", ports[0])]);
        }
    }

    #[test]
    fn the_error_names_a_taken_address_and_says_what_to_do() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = taken.local_addr().expect("bound").to_string();
        let error = bind(&general(&address), 2).err().expect("refused").to_string();
        assert!(error.contains(&address) && error.contains("stop it"), "{error}");
    }

    #[test]
    fn an_address_with_a_shared_listener_is_taken() {
        let first = bind(&general("127.0.0.1:0"), 1).expect("bound");
        let address: SocketAddr = first.addresses[0].parse().expect("an address");
        assert!(is_taken(address));
        drop(first);
        assert!(!is_taken(address));
    }

    #[test]
    fn the_unix_socket_has_the_tcp_port_and_is_removed_with_its_listeners() {
        let directory = tempfile::tempdir().expect("a directory");
        let unix_socket_dir = Some(directory.path().to_owned());
        let listeners = bind(&General { unix_socket_dir, ..general("127.0.0.1:0") }, 2).expect("bound");
        let port = port(&listeners.workers[0][0]);
        let path = directory.path().join(format!(".s.PGSQL.{port}"));
        UnixStream::connect(&path).expect("somebody listens");
        assert!(listeners.workers.iter().all(|worker| worker.len() == 2));
        drop(listeners);
        assert!(!path.exists());
    }
}
