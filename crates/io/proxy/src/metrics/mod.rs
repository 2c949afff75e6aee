//! What operators can measure.
//!
//! Workers count into plain atomics ([`PoolCounters`], [`ServerCounters`], [`ProcessCounters`]) that [`Registry`] hands
//! out; a scrape sums them and writes Prometheus' text format.

mod atomics;
mod counters;
pub mod exposition;
mod registry;

pub use atomics::{Counter, Gauge};
pub use counters::{FaultKind, LimitKind, PoolCounters, ProcessCounters, ServerCounters, TimeoutKind};
pub use registry::Registry;
