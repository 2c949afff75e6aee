//! The statements that are measured: what applications send, written for this.

/// pgbench's select-only transaction.
pub const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = 12345;";

/// A report of about 2,700 bytes: CTEs, joins, windows, CASE.
pub const LONG: &str = include_str!("long.sql");

/// What OLTP applications and ORMs send: a statement a line. `scripts/release` takes its profile of the parser from them too.
pub fn oltp() -> Vec<&'static str> {
    include_str!("oltp.sql").lines().map(|line| line.trim_end_matches(';')).collect()
}
