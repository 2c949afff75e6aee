//! A worker's figures, for metrics.

use super::Board;
use crate::carried::pins::Pin;
use crate::client::Stage;
use crate::server::ServerStage;

/// The figures of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardStatus {
    /// Clients that are logging in.
    pub clients_login: u64,
    /// Clients without a server connection.
    pub clients_idle: u64,
    /// Clients that wait for a server connection.
    pub clients_waiting: u64,
    /// Clients that have a server connection, or still wait for answers from one.
    pub clients_active: u64,
    /// Clients that are pinned to one, by what pins them; a client may count several times (`auto` mode).
    pub clients_pinned: [u64; Pin::ALL.len()],
    /// Server connections that are being opened.
    pub servers_login: u64,
    /// Idle server connections.
    pub servers_idle: u64,
    /// Server connections that are lent to clients.
    pub servers_active: u64,
    /// Server connections that are being cleaned or checked, or that finish a turn whose client has left.
    pub servers_busy: u64,
    /// Bytes that are not sent to clients yet.
    pub client_unsent_bytes: u64,
    /// Bytes that are not sent to servers yet.
    pub server_unsent_bytes: u64,
    /// Cancel requests that are being sent.
    pub cancels: u64,
    /// Bytes in the cache of `auth_query`'s answers.
    pub auth_cache_bytes: u64,
    /// Logins that wait for their share of a round.
    pub logins_waiting: u64,
    /// Logins that have failed so far.
    pub logins_failed: u64,
    /// Clients that have broken the protocol so far.
    pub protocol_violations: u64,
    /// For each server connection: its process id, its database, how many Parse messages found their statement prepared there,
    /// and how many did not.
    pub prepared_by_server: Vec<(i32, String, u64, u64)>,
}

impl Board {
    /// The worker's figures now. This walks all connections, so it is for metrics and not for each turn.
    #[must_use]
    pub fn status(&self) -> BoardStatus {
        let mut status = BoardStatus {
            cancels: self.cancels.under_way() as u64,
            auth_cache_bytes: self.secrets.bytes() as u64,
            logins_waiting: self.logins_waiting() as u64,
            logins_failed: self.logins_failed,
            protocol_violations: self.protocol_violations,
            ..BoardStatus::default()
        };
        for (_, client) in self.clients.iter() {
            *match client.stage {
                _ if client.login.is_some() => &mut status.clients_login,
                Stage::Login | Stage::Idle | Stage::Cancelling => &mut status.clients_idle,
                Stage::Waiting(_) => &mut status.clients_waiting,
                Stage::Linked(..) | Stage::Owed(_) => &mut status.clients_active,
            } += 1;
            for (pinned, pin) in status.clients_pinned.iter_mut().zip(Pin::ALL) {
                *pinned += u64::from(client.pins.has(pin));
            }
            status.client_unsent_bytes += client.outbox.pending().len() as u64;
        }
        for (_, server) in self.servers.iter() {
            *match server.stage {
                ServerStage::Login(_) => &mut status.servers_login,
                ServerStage::Idle => &mut status.servers_idle,
                ServerStage::Lent(_) => &mut status.servers_active,
                ServerStage::Chore(_) | ServerStage::Finishing | ServerStage::Abandoned => {
                    &mut status.servers_busy
                }
            } += 1;
            status.server_unsent_bytes += server.outbox.pending().len() as u64;
            if let Some(local) = self.local_pool(server.pool) {
                let database = local.name.clone();
                status.prepared_by_server.push((server.process_id, database, server.hits, server.misses));
            }
        }
        status
    }
}
