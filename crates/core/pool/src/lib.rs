//! Who holds which server connection.
//!
//! Nothing here does I/O. A [`Pool`] is one worker's share of the server connections of one database
//! and user: which are idle, which clients wait, how many are being opened. A [`Ledger`] is what all
//! workers share about that pool: how many connections exist, who starves. Sizes and limits are
//! therefore global while the lists stay a worker's own, and nothing on the hot path takes a lock.

pub mod arena;
mod claim;
mod ledger;
mod ledgers;
mod names;
mod pool;
mod settings;

pub use ledger::{Capacity, Ledger, Refused, Tally};
pub use ledgers::Ledgers;
pub use names::{Micros, PoolId};
pub use pool::{Pool, Release, Waiter, Want};
pub use settings::{PoolMode, PoolSettings};
