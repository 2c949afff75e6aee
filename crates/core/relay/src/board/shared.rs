//! What all workers of a process share.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

use trunkline_pool::Ledgers;

use super::kept::cancel_keys::CancelKeys;
use super::kept::gate::Gate;
use super::kept::welcomes::Welcomes;
use crate::carried::prepared::{Registry, Schemas};
use crate::text::Classes;

/// The names of the settings that limit something: a reached limit refuses or closes a client, or makes a connection wait.
pub(crate) const LIMIT_NAMES: [&str; 26] = [
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

/// The first process id that we give to a client. Linux gives processes only smaller ids (up to 2^22), so no client has the id
/// of a server process.
pub(super) const FIRST_PROCESS_ID: i32 = 1 << 24;

/// What all workers of a process share.
#[derive(Debug)]
pub struct Shared {
    /// How many server connections and clients each pool, database and user has.
    pub ledgers: Ledgers,
    /// The prepared statements.
    pub registry: Registry,
    /// What SQL texts do.
    pub classes: Classes,
    /// How often the definitions (tables, types, ...) of each database have changed.
    pub schemas: Schemas,
    /// The parameters that servers have reported at login.
    pub(crate) welcomes: Welcomes,
    /// Which client a cancel request names.
    pub cancel_keys: CancelKeys,
    /// The number of client connections.
    pub clients: AtomicU32,
    /// The number of client connections that have not logged in yet.
    pub unauthenticated: AtomicU32,
    /// Limits the look-ups in databases that are not known to exist.
    pub(crate) look_up_gate: Gate,
    /// The number of clients of each worker, clients that are being sent to it included.
    pub(crate) clients_by_worker: Box<[AtomicU32]>,
    /// The process id that the next client gets.
    pub(crate) next_process_id: AtomicI32,
    /// How often each limit was reached, in the order of [`LIMIT_NAMES`]; see [`Shared::limits_hit`].
    pub(crate) limits_hit: [AtomicU64; LIMIT_NAMES.len()],
}

impl Shared {
    /// The shared state of `workers` workers at the start.
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
            look_up_gate: Gate::default(),
            clients_by_worker: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            next_process_id: AtomicI32::new(FIRST_PROCESS_ID),
            limits_hit: Default::default(),
        }
    }

    pub(super) fn next_process_id(&self) -> i32 {
        loop {
            let next = self.next_process_id.fetch_add(1, Relaxed);
            if next < FIRST_PROCESS_ID {
                self.next_process_id.store(FIRST_PROCESS_ID, Relaxed);
            } else if !self.cancel_keys.is_taken(next) {
                return next;
            }
        }
    }

    /// The number of look-ups under way in databases that are not known to exist.
    #[must_use]
    pub fn unproven_look_ups(&self) -> u32 {
        self.look_up_gate.under_way.load(Relaxed)
    }

    /// How often each limit was reached since the start: its name and the count.
    pub fn limits_hit(&self) -> impl Iterator<Item = (&'static str, u64)> {
        LIMIT_NAMES.iter().zip(&self.limits_hit).map(|(name, count)| (*name, count.load(Relaxed)))
    }

    pub(crate) fn count_limit_hit(&self, limit: &str) {
        let at = LIMIT_NAMES.iter().position(|name| *name == limit);
        debug_assert!(at.is_some(), "{limit} is none of LIMIT_NAMES");
        if let Some(at) = at {
            self.limits_hit[at].fetch_add(1, Relaxed);
        }
    }
}
