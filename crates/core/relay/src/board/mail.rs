//! What a board asks of its shell, and the messages between workers.

use std::sync::Arc;

use trunkline_pool::{Ledger, PoolId};

use super::kept::cancels::CancelTicket;
use crate::directory::{Directory, Target};
use crate::keys::{ClientKey, ServerKey};
use crate::server::Server;

/// What the shell must do.
#[derive(Debug)]
pub enum Action {
    /// Open a connection to the server; report with `server_connected` or `server_closed`.
    Connect(ServerKey, Arc<Target>),
    /// Write the unsent bytes, then establish TLS as its server side; report with `client_tls_started`. The bytes of
    /// `take_client_inbox` belong to TLS.
    ClientTls(ClientKey),
    /// Write the unsent bytes, then establish TLS as its client side; report with `server_tls_started`.
    ServerTls(ServerKey, Arc<Target>),
    /// Write these bytes as far as the socket accepts them at once, then close the socket.
    CloseClient(ClientKey, Vec<u8>),
    /// Write these bytes as far as the socket accepts them at once, then close the socket.
    CloseServer(ServerKey, Vec<u8>),
    /// Read from the client again.
    ResumeClient(ClientKey),
    /// Read from the server again.
    ResumeServer(ServerKey),
    /// Send a cancel request on a new connection; report with `cancel_delivered`.
    Cancel(CancelTicket),
    /// Move the connection with its socket to another worker, which calls `server_arrived`.
    Handoff(usize, ServerKey, Box<Server>),
    /// Send a message to another worker.
    Mail(usize, Mail),
    /// Write something to the log.
    Note(Note),
}

/// Something for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A warning: its kind, by which repeated warnings are counted, and the text.
    Warning(&'static str, String),
    /// A text for debugging.
    Debug(String),
}

/// A message from another worker, or from the operator.
#[derive(Debug)]
pub enum Mail {
    /// Clients of that worker wait for a connection of that pool, of which this worker has an idle one.
    Starving(PoolId, usize),
    /// The limit of a database or user keeps this pool from opening a connection: close an idle connection of another pool
    /// under that limit. The ledger comes along because the receiver may have no part of the pool.
    Evict(Arc<Ledger>),
    /// A connection may be opened in this pool or under its limits, or an idle connection can be closed for that: serve
    /// clients that wait in this pool, or in other pools of its database or user.
    Vacancy(Arc<Ledger>),
    /// Cancel the query of this client; then tell that worker and its client, which has asked for it.
    Cancel(ClientKey, usize, ClientKey),
    /// The cancel request of this client was handled.
    Cancelled(ClientKey),
    /// Use this configuration.
    Reload(Arc<Directory>),
    /// Begin (true) or stop (false) to hold back all turns.
    Pause(bool),
    /// Shut down.
    Shutdown(Shutdown),
}

/// How to shut down (by the signals of PgBouncer 1.23 and later).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Refuse new connections, and close clients as soon as they have no server connection (SIGINT).
    WaitForServers,
    /// Refuse new connections, and wait until all clients have left (SIGTERM).
    WaitForClients,
    /// Close all clients now (SIGQUIT, or a second signal).
    Now,
}
