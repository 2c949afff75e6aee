//! Cancel requests: to exactly the query of the client that asked.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use trunkline_pool::PoolId;
use trunkline_session::backend::CancelKey;
use trunkline_wire::sqlstate::SqlState;

use super::due::Due;
use super::refusal::Refusal;
use super::{Action, Board, Mail, Shared};
use crate::client::{Purpose, Stage};
use crate::directory::Target;
use crate::server::Cancel;
use crate::turn::Owner;
use crate::{ClientKey, ServerKey};

/// Process ids of clients begin above what Linux gives to processes (2^22), so that none is a server's own.
pub(super) const FIRST_PROCESS_ID: i32 = 1 << 24;

/// By what a client can be cancelled. The process id of a session-mode client is its server's, so two clients (of two
/// servers) can share one: the secret tells them apart.
#[derive(Debug, Default)]
pub struct CancelKeys {
    by_process: Mutex<HashMap<i32, Vec<Entry>>>,
}

#[derive(Debug)]
struct Entry {
    key: CancelKey,
    worker: usize,
    client: ClientKey,
}

impl CancelKeys {
    pub(super) fn register(&self, process_id: i32, key: CancelKey, worker: usize, client: ClientKey) {
        let mut all = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(process_id).or_default().push(Entry { key, worker, client });
    }

    pub(super) fn forget(&self, process_id: i32, key: &CancelKey) {
        let mut all = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = all.get_mut(&process_id) {
            entries.retain(|entry| entry.key != *key);
            if entries.is_empty() {
                all.remove(&process_id);
            }
        }
    }

    /// The worker and client of a key; the time taken does not tell how much of a secret was right.
    fn find(&self, process_id: i32, secret: &[u8]) -> Option<(usize, ClientKey)> {
        let all = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = all.get(&process_id)?;
        let found = entries.iter().find(|entry| entry.key.matches(secret))?;
        Some((found.worker, found.client))
    }

    fn is_taken(&self, process_id: i32) -> bool {
        self.by_process.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&process_id)
    }
}

impl Shared {
    pub(super) fn next_process_id(&self) -> i32 {
        loop {
            let next = self.process_ids.fetch_add(1, Relaxed);
            if next < FIRST_PROCESS_ID {
                self.process_ids.store(FIRST_PROCESS_ID, Relaxed);
            } else if !self.cancel_keys.is_taken(next) {
                return next;
            }
        }
    }
}

/// A cancel request to be delivered to a server. `Debug` does not show its secret.
#[derive(Clone)]
pub struct CancelTicket {
    /// Give it back with `cancel_delivered`.
    pub server: ServerKey,
    /// Where to.
    pub target: Arc<Target>,
    /// The CancelRequest packet.
    pub packet: Vec<u8>,
}

impl std::fmt::Debug for CancelTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelTicket")
            .field("server", &self.server)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Who waits for cancels of this worker's server connections.
#[derive(Default)]
pub(super) struct Cancels {
    waiting: HashMap<ServerKey, Vec<(usize, ClientKey)>>,
    under_way: usize,
    queued: VecDeque<ServerKey>,
}

impl Cancels {
    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }
}

impl Board {
    /// A connection asks that a query of another be cancelled.
    pub(super) fn cancel_requested(&mut self, key: ClientKey, process_id: i32, secret: &[u8]) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.stage = Stage::Cancelling;
        client.since = self.now;
        match self.shared.cancel_keys.find(process_id, secret) {
            // A key that is nobody's (or no longer anybody's) is not worth a word.
            None => self.client_left(key),
            Some((worker, victim)) if worker == self.worker => self.cancel_client(victim, worker, key),
            Some((worker, victim)) => {
                let mail = Mail::Cancel(victim, self.worker, key);
                self.actions.push_back(Action::Mail(worker, mail));
            }
        }
    }

    /// Cancels what a client of this worker runs, for the client `asker` of worker `from`.
    pub(super) fn cancel_client(&mut self, victim: ClientKey, from: usize, asker: ClientKey) {
        let stage = self.clients.get(victim).map(|client| &client.stage);
        match stage {
            Some(Stage::Waiting(Purpose::Turn)) => {
                let pool = self.clients.get(victim).map_or(PoolId::NONE, |client| client.pool);
                if let Some(slot) = self.slot_mut(pool) {
                    slot.pool.leave_queue(victim);
                }
                let mut error = Vec::new();
                Refusal::new(SqlState::QUERY_CANCELED, "canceling statement due to user request")
                    .encode(false, &mut error);
                self.fail_turn(victim, &error);
            }
            Some(Stage::Linked(server, Purpose::Turn | Purpose::Session) | Stage::Owed(server)) => {
                let server = *server;
                let alone = self.is_alone(server, victim);
                if let (false, Some(server)) = (alone, self.servers.get_mut(server)) {
                    // The server would cancel whatever it runs when the request arrives, if only somebody else's turn.
                    server.turns.want_cancel(victim);
                    return self.answer_cancel(from, asker);
                }
                let runs = |server: &crate::server::Server| {
                    matches!(server.turns.owner(), Some(Owner::Client(_))) && !server.turns.is_settled()
                };
                if self.servers.get(server).is_some_and(runs) && self.cancel_server(server) {
                    self.cancels.waiting.entry(server).or_default().push((from, asker));
                    return;
                }
            }
            _ => {}
        }
        self.answer_cancel(from, asker);
    }

    /// Closes the connection that asked for a cancel: that is its answer.
    fn answer_cancel(&mut self, worker: usize, asker: ClientKey) {
        if worker == self.worker {
            self.due.push_back(Due::CancelAnswered(asker));
        } else {
            self.actions.push_back(Action::Mail(worker, Mail::Cancelled(asker)));
        }
    }

    /// Has the server connection's query cancelled. The connection is not lent to another client before the request
    /// has come and gone. False when that cannot be.
    pub(super) fn cancel_server(&mut self, key: ServerKey) -> bool {
        let Some(server) = self.servers.get_mut(key) else { return false };
        if server.secret.0.is_empty() {
            return false;
        }
        if server.cancel != Cancel::None {
            server.cancel = Cancel::Again;
            return true;
        }
        server.cancel = Cancel::UnderWay;
        if self.cancels.under_way >= self.directory.cancels_max {
            self.shared.hit("cancel_requests_max");
            self.cancels.queued.push_back(key);
            return true;
        }
        self.send_cancel(key);
        true
    }

    fn send_cancel(&mut self, key: ServerKey) {
        let Some(server) = self.servers.get(key) else { return };
        let Some(slot) = self.slots.get_mut(server.pool).and_then(Option::as_deref_mut) else { return };
        slot.counters.cancels += 1;
        let mut packet = Vec::new();
        let request = trunkline_wire::startup::CancelRequest {
            process_id: server.process_id,
            secret_key: &server.secret.0,
        };
        request.encode(&mut packet);
        let target = Arc::clone(&slot.database.target);
        self.cancels.under_way += 1;
        self.actions.push_back(Action::Cancel(CancelTicket { server: key, target, packet }));
    }

    /// A cancel request was delivered (the server closed its connection), or could not be.
    pub fn cancel_delivered(&mut self, key: ServerKey, delivered: bool) {
        self.cancel_over(key, delivered);
        self.do_what_is_due();
    }

    fn cancel_over(&mut self, key: ServerKey, delivered: bool) {
        self.cancels.under_way = self.cancels.under_way.saturating_sub(1);
        while let Some(next) = self.cancels.queued.pop_front() {
            if self.servers.get(next).is_some_and(|server| server.cancel != Cancel::None) {
                self.send_cancel(next);
                break;
            }
        }
        for (worker, asker) in self.cancels.waiting.remove(&key).unwrap_or_default() {
            self.answer_cancel(worker, asker);
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        let again = std::mem::take(&mut server.cancel) == Cancel::Again;
        // One that may still arrive would hit whoever has the connection then.
        server.condemn_if(!delivered);
        if again && !server.turns.is_empty() {
            self.cancel_server(key);
            return;
        }
        if server.is_abandoned() && server.is_settled() {
            self.free_server(key);
        }
    }

    /// The server connection is gone: nobody need wait for its cancel.
    pub(super) fn forget_cancels(&mut self, key: ServerKey) {
        for (worker, asker) in self.cancels.waiting.remove(&key).unwrap_or_default() {
            self.answer_cancel(worker, asker);
        }
    }
}

#[cfg(test)]
mod tests {
    use trunkline_wire::startup::ProtocolVersion;

    use super::*;

    #[test]
    fn a_key_finds_its_client_and_nobody_else() {
        let keys = CancelKeys::default();
        let of = |byte| CancelKey::new(ProtocolVersion::V3_0, [byte; 32]);
        let clients = [1, 2].map(ClientKey::from_u64);
        // In session mode two clients of two servers may share a process id.
        keys.register(7, of(1), 0, clients[0]);
        keys.register(7, of(2), 1, clients[1]);
        assert_eq!(keys.find(7, &[2; 4]), Some((1, clients[1])));
        assert_eq!(keys.find(7, &[1; 4]), Some((0, clients[0])));
        assert_eq!((keys.find(7, &[1; 3]), keys.find(7, &[3; 4]), keys.find(8, &[1; 4])), (None, None, None));
        keys.forget(7, &of(1));
        assert_eq!((keys.find(7, &[1; 4]), keys.is_taken(7)), (None, true));
        keys.forget(7, &of(2));
        assert!(!keys.is_taken(7));
    }

    #[test]
    fn secrets_are_not_shown() {
        let target = Target {
            host: "h".to_owned(),
            port: 1,
            tls: trunkline_session::frontend::TlsWish::Never,
            second_try: None,
            tls_profile: 0,
        };
        let packet = vec![201; 16];
        let ticket = CancelTicket { server: ServerKey::from_u64(1), target: Arc::new(target), packet };
        assert!(!format!("{ticket:?}").contains("201"));
        assert_eq!(format!("{:?}", crate::server::BackendSecret([201; 4].into())), "BackendSecret(..)");
    }
}
