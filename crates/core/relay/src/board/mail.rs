//! What a board tells its shell and other workers.

use std::sync::Arc;

use trunkline_pool::{Ledger, PoolId};

use super::kept::cancels::CancelTicket;
use crate::directory::{Directory, Target};
use crate::keys::{ClientKey, ServerKey};
use crate::server::Server;

/// What the shell has to do.
#[derive(Debug)]
pub enum Action {
    /// Dial; report with `server_connected` or `server_closed`.
    Connect(ServerKey, Arc<Target>),
    /// Write what is pending, then establish TLS as the server; report with `client_tls_started`. Bytes in the inbox
    /// (`take_client_inbox`) belong to TLS.
    ClientTls(ClientKey),
    /// Write what is pending, then establish TLS as the client; report with `server_tls_started`.
    ServerTls(ServerKey, Arc<Target>),
    /// Close the socket, once what is pending was written as far as it can be at once.
    CloseClient(ClientKey, Vec<u8>),
    /// Close the socket, after writing what is given as far as it can be at once.
    CloseServer(ServerKey, Vec<u8>),
    /// Reading may go on.
    ResumeClient(ClientKey),
    /// Reading may go on.
    ResumeServer(ServerKey),
    /// Deliver a cancel request on a connection of its own; report with `cancel_delivered`.
    Cancel(CancelTicket),
    /// Hand the socket and the connection to another worker: `server_arrived` there.
    Handoff(usize, ServerKey, Box<Server>),
    /// Tell another worker.
    Mail(usize, Mail),
    /// Tell the operator.
    Note(Note),
}

/// Something for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Worth a look: its kind, of which many may come in a row, and the text.
    Warning(&'static str, String),
    /// Of interest to who looks for something.
    Debug(String),
}

/// What workers tell each other.
#[derive(Debug)]
pub enum Mail {
    /// A worker's clients wait and this one has an idle connection: the pool and that worker.
    Starving(PoolId, usize),
    /// A pool cannot grow because its database or user is at its limit: close an idle connection of another pool of
    /// theirs. You may not have met that pool: here is its account.
    Evict(Arc<Ledger>),
    /// A place in that pool or under its limits came free, or an idle connection that can be closed for one: for who
    /// waits in it, or in other pools of its database or user.
    Vacancy(Arc<Ledger>),
    /// Cancel what this client of yours runs: its key, who asked (a worker and its client).
    Cancel(ClientKey, usize, ClientKey),
    /// The cancel that this client of yours asked for was delivered.
    Cancelled(ClientKey),
    /// New settings.
    Reload(Arc<Directory>),
    /// Hold all turns back, or no longer.
    Pause(bool),
    /// Come to an end.
    Shutdown(Shutdown),
}

/// How to come to an end (the signals of PgBouncer 1.23 and later).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// New connections are refused; clients go when their server connection is released (SIGINT).
    WaitForServers,
    /// New connections are refused; clients stay until they leave (SIGTERM).
    WaitForClients,
    /// Everybody goes now (SIGQUIT, or a second signal).
    Now,
}
