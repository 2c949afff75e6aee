//! The text format of metrics. `serve/metrics.rs` has the list of all metrics.

pub mod exposition;
