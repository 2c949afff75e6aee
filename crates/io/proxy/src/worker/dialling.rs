//! Connects to servers: looks up the host name, then tries one address after the other.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use trunkline_net::dial::{self, ServerAddress};
use trunkline_net::resolve::{Addresses, Lookup, ResolveError};
use trunkline_net::stream::Stream;
use trunkline_relay::{ServerKey, Target};

use super::Worker;
use super::socket::Socket;
use super::token::{self, Kind};

/// The purpose of a connection: for a pool's server connection, or for a cancel request in this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Caller {
    Server(ServerKey),
    Cancel(u32),
}

/// One attempt to reach a server.
struct Attempt {
    target: Arc<Target>,
    addresses: Option<Addresses>,
    next: usize,
}

#[derive(Default)]
pub(super) struct Dialling {
    attempts: HashMap<Caller, Attempt>,
    tokens: HashMap<u64, Caller>,
    next_token: u64,
}

/// The state of an attempt.
pub(super) enum Dialled {
    /// The socket is connecting.
    Connecting(Stream),
    /// The name is being looked up.
    Resolving,
    /// The server cannot be reached; the text says why.
    Failed(String),
}

impl Worker {
    pub(super) fn dial(&mut self, caller: Caller, target: Arc<Target>) -> Dialled {
        let address = ServerAddress::new(&target.host, target.port);
        if let Some(path) = address.socket_path() {
            return match dial::unix(&path) {
                Ok(stream) => Dialled::Connecting(stream),
                Err(error) => Dialled::Failed(format!("cannot connect to {}: {error}", path.display())),
            };
        }
        let token = self.dialling.next_token;
        self.dialling.next_token += 1;
        let known = self.resolver.resolve(&target.host, token);
        self.dialling.attempts.insert(caller, Attempt { target, addresses: None, next: 0 });
        match known {
            Lookup::Known(found) => self.use_addresses(caller, found),
            Lookup::Pending => {
                self.dialling.tokens.insert(token, caller);
                Dialled::Resolving
            }
        }
    }

    fn use_addresses(&mut self, caller: Caller, found: Result<Addresses, ResolveError>) -> Dialled {
        match found {
            Ok(addresses) => {
                if let Some(attempt) = self.dialling.attempts.get_mut(&caller) {
                    attempt.addresses = Some(addresses);
                }
                self.next_address(caller, None)
            }
            Err(error) => {
                self.dialling.attempts.remove(&caller);
                Dialled::Failed(error.to_string())
            }
        }
    }

    /// Tries the next address of a server. `failed`: the error of the previous address.
    pub(super) fn next_address(&mut self, caller: Caller, failed: Option<io::Error>) -> Dialled {
        let mut failed = failed;
        let Some(attempt) = self.dialling.attempts.get_mut(&caller) else {
            let why = failed.map_or_else(String::new, |error| error.to_string());
            return Dialled::Failed(format!("cannot connect to the server: {why}"));
        };
        while let Some(ip) = attempt.addresses.as_ref().and_then(|all| all.get(attempt.next)) {
            attempt.next += 1;
            match dial::tcp(SocketAddr::new(*ip, attempt.target.port)) {
                Ok(stream) => return Dialled::Connecting(stream),
                Err(error) => failed = Some(error),
            }
        }
        let why = failed.map_or_else(|| "no address".to_owned(), |error| error.to_string());
        let text = format!("cannot connect to {}:{}: {why}", attempt.target.host, attempt.target.port);
        self.dialling.attempts.remove(&caller);
        Dialled::Failed(text)
    }

    /// Forgets the attempt, because it is connected or no longer needed.
    pub(super) fn forget_attempt(&mut self, caller: Caller) {
        self.dialling.attempts.remove(&caller);
    }

    /// Goes on with the attempts whose host names have been looked up.
    pub(super) fn handle_resolved_names(&mut self) {
        while let Some(resolved) = self.resolver.try_recv() {
            let Some(caller) = self.dialling.tokens.remove(&resolved.token) else { continue };
            if !self.dialling.attempts.contains_key(&caller) {
                continue;
            }
            let dialled = self.use_addresses(caller, resolved.addresses);
            self.continue_dialling(caller, dialled);
        }
    }

    fn continue_dialling(&mut self, caller: Caller, dialled: Dialled) {
        match caller {
            Caller::Server(key) => self.connect_server(key, dialled),
            Caller::Cancel(slot) => self.connect_cancel(slot, dialled),
        }
    }

    pub(super) fn connect_server(&mut self, key: ServerKey, dialled: Dialled) {
        match dialled {
            Dialled::Resolving => {}
            Dialled::Failed(why) => self.board.server_closed(key, &why),
            Dialled::Connecting(stream) => {
                if let Some(keepalive) = self.sockets.keepalive
                    && !stream.is_unix()
                    && let Err(error) = stream.set_keepalive(keepalive)
                {
                    tracing::warn!("cannot set keepalive: {error}");
                }
                let mut socket = Box::new(Socket::new(stream));
                let token = token::for_key(Kind::Server, key);
                match socket.register_connecting(&self.sockets.registry, token) {
                    Ok(()) => self.sockets.servers.insert(key, socket),
                    Err(error) => {
                        self.board.server_closed(key, &format!("cannot register a socket: {error}"));
                    }
                }
            }
        }
    }

    /// Handles an event of a server's socket that is connecting. True if the socket is connected now.
    pub(super) fn finish_dial(&mut self, key: ServerKey) -> bool {
        let Some(socket) = self.sockets.servers.get_mut(key) else { return false };
        match dial::finish_connect(socket.stream()) {
            Ok(false) => false,
            Ok(true) => {
                self.forget_attempt(Caller::Server(key));
                self.board.server_connected(key);
                true
            }
            Err(error) => {
                self.sockets.servers.remove(key);
                let dialled = self.next_address(Caller::Server(key), Some(error));
                self.connect_server(key, dialled);
                false
            }
        }
    }
}
