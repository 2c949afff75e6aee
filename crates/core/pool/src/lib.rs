//! Decides which client gets which server connection. Nothing here does I/O.
//!
//! A [`Pool`] is one worker's part of the pool of one database and user: its idle server connections, its waiting
//! clients, and how many connections it is opening. The workers share the pool's [`Ledger`]: it counts the pool's
//! connections and says in which workers clients wait. So sizes and limits hold for all workers together, but each
//! worker has its own lists, and no turn takes a lock.

pub mod arena;
mod claim;
mod ledger;
mod ledgers;
mod names;
mod pool;
mod settings;

pub use ledger::{Capacity, Ledger, Limit, Tally};
pub use ledgers::Ledgers;
pub use names::{Micros, PoolId};
pub use pool::{Pool, Release, Waiter, Want};
pub use settings::{PoolMode, PoolSettings};
