//! The keys that cancel requests contain, and the clients that they name.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trunkline_session::backend::CancelKey;

use crate::keys::ClientKey;

/// The cancel keys of all clients. A client in session mode has the process id of its server process, so two clients (of two
/// servers) can have the same id. Their secrets differ.
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
    pub(in crate::board) fn register(
        &self,
        process_id: i32,
        key: CancelKey,
        worker: usize,
        client: ClientKey,
    ) {
        let mut all = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(process_id).or_default().push(Entry { key, worker, client });
    }

    pub(in crate::board) fn forget(&self, process_id: i32, key: &CancelKey) {
        let mut all = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = all.get_mut(&process_id) {
            entries.retain(|entry| entry.key != *key);
            if entries.is_empty() {
                all.remove(&process_id);
            }
        }
    }

    /// The worker and the client that a key names. The time that this takes does not depend on how many bytes of the secret
    /// are right.
    pub(in crate::board) fn find(&self, process_id: i32, secret: &[u8]) -> Option<(usize, ClientKey)> {
        let all = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = all.get(&process_id)?;
        let found = entries.iter().find(|entry| entry.key.matches(secret))?;
        Some((found.worker, found.client))
    }

    pub(in crate::board) fn is_taken(&self, process_id: i32) -> bool {
        self.by_process.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&process_id)
    }
}

#[cfg(test)]
mod tests {
    use trunkline_wire::startup::ProtocolVersion;

    use std::sync::Arc;

    use super::*;
    use crate::board::CancelTicket;
    use crate::directory::Target;
    use crate::keys::ServerKey;

    #[test]
    fn a_key_finds_its_client_and_no_other() {
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
