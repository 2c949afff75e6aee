//! Numbers that one thread changes and another reads.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A number that only grows. Nothing is ordered by it, so `Relaxed` is enough everywhere.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Adds 1.
    pub fn increment(&self) {
        self.add(1);
    }

    /// The number now.
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// Adds `n`, which may be negative.
    pub fn add(&self, n: i64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Sets it to `n`.
    pub fn set(&self, n: i64) {
        self.0.store(n, Ordering::Relaxed);
    }

    /// The number now.
    pub fn value(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
