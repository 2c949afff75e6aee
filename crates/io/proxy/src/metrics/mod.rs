//! How metrics are written. Which there are is in `serve`.

pub mod exposition;
