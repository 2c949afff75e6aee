//! What all workers of a process share.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

use trunkline_pool::Ledgers;

use super::kept::cancel_keys::CancelKeys;
use super::kept::gate::Gate;
use super::kept::welcomes::Welcomes;
use crate::carried::prepared::{Registry, Schemas};
use crate::text::Classes;

/// Bounds that can turn a client away, end it, or make it or a server connection wait, by the names of their settings.
pub(crate) const BOUNDS: [&str; 26] = [
    "max_client_conn",
    "unauthenticated_conn_max",
    "max_db_client_connections",
    "max_user_client_connections",
    "max_db_connections",
    "max_user_connections",
    "query_wait_timeout",
    "client_login_timeout",
    "client_idle_timeout",
    "idle_transaction_timeout",
    "pin_idle_timeout",
    "query_timeout",
    "cancel_requests_max",
    "abandoned_turn_timeout",
    "message_bytes_max",
    "client_prepared_statements_max",
    "client_prepared_statement_bytes_max",
    "client_buffer_bytes",
    "server_buffer_bytes",
    "outstanding_turns_max",
    "round_messages_max",
    "round_parse_bytes_max",
    "lent_turns_max",
    "pools_max",
    "unproven_lookups_max",
    "auth_cache_bytes_max",
];

/// Process ids of clients begin above what Linux gives to processes (2^22), so that none is a server's own.
pub(super) const FIRST_PROCESS_ID: i32 = 1 << 24;

/// What all workers of a process share.
#[derive(Debug)]
pub struct Shared {
    /// Who holds how many server connections.
    pub ledgers: Ledgers,
    /// Prepared statements.
    pub registry: Registry,
    /// What texts are.
    pub classes: Classes,
    /// Databases whose definitions change.
    pub schemas: Schemas,
    /// What servers say of themselves.
    pub(crate) welcomes: Welcomes,
    /// Who may be cancelled by what key.
    pub cancel_keys: CancelKeys,
    /// Client connections.
    pub clients: AtomicU32,
    /// Those that have not logged in yet.
    pub unauthenticated: AtomicU32,
    /// Look-ups in databases that are not known to exist.
    pub(crate) unproven: Gate,
    /// Clients of each worker, those on their way to it included.
    pub(crate) seats: Box<[AtomicU32]>,
    /// The last process id given to a client.
    pub(crate) process_ids: AtomicI32,
    /// Bounds that turned somebody away, by name; see [`Shared::limits_hit`].
    pub(crate) limits_hit: [AtomicU64; BOUNDS.len()],
}

impl Shared {
    /// For `workers` workers.
    #[must_use]
    pub fn new(workers: usize, registry: Registry, classes: Classes) -> Self {
        Self {
            ledgers: Ledgers::new(workers),
            registry,
            classes,
            schemas: Schemas::default(),
            welcomes: Welcomes::default(),
            cancel_keys: CancelKeys::default(),
            clients: AtomicU32::new(0),
            unauthenticated: AtomicU32::new(0),
            unproven: Gate::default(),
            seats: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            process_ids: AtomicI32::new(FIRST_PROCESS_ID),
            limits_hit: Default::default(),
        }
    }

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

    /// Look-ups under way in databases that are not known to exist.
    #[must_use]
    pub fn unproven_look_ups(&self) -> u32 {
        self.unproven.inside.load(Relaxed)
    }

    /// How often each bound has struck since the start: name and count.
    pub fn limits_hit(&self) -> impl Iterator<Item = (&'static str, u64)> {
        BOUNDS.iter().zip(&self.limits_hit).map(|(name, count)| (*name, count.load(Relaxed)))
    }

    pub(crate) fn hit(&self, bound: &str) {
        let at = BOUNDS.iter().position(|name| *name == bound);
        debug_assert!(at.is_some(), "{bound} is none of BOUNDS");
        if let Some(at) = at {
            self.limits_hit[at].fetch_add(1, Relaxed);
        }
    }
}
