//! A worker's figures, for metrics.

use super::Board;
use crate::carried::pins::Pin;
use crate::client::Stage;
use crate::server::ServerStage;

/// Gauges and counts of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardStatus {
    /// Clients that are logging in.
    pub clients_login: u64,
    /// Clients without a server connection.
    pub clients_idle: u64,
    /// Clients that wait for one.
    pub clients_waiting: u64,
    /// Clients that hold one.
    pub clients_active: u64,
    /// Those that are pinned to it, by what pins them: one may count several times (`auto` mode).
    pub clients_pinned: [u64; Pin::ALL.len()],
    /// Server connections being opened.
    pub servers_login: u64,
    /// Idle server connections.
    pub servers_idle: u64,
    /// Server connections that clients hold.
    pub servers_active: u64,
    /// Server connections being cleaned, checked or drained.
    pub servers_busy: u64,
    /// Bytes waiting for slow clients.
    pub client_unsent_bytes: u64,
    /// Bytes waiting for slow servers.
    pub server_unsent_bytes: u64,
    /// Cancel requests under way.
    pub cancels: u64,
    /// Bytes of `auth_query`'s answers that are remembered.
    pub auth_cache_bytes: u64,
    /// Logins that wait for their share of a round.
    pub logins_waiting: u64,
    /// Logins that failed so far.
    pub logins_failed: u64,
    /// Clients that broke the protocol so far.
    pub protocol_violations: u64,
    /// Parse messages that found their statement, and that did not, by server process id.
    pub prepared_by_server: Vec<(i32, String, u64, u64)>,
}

impl Board {
    /// The worker's figures now. Walks all connections: for a scrape, not for a hot path.
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
