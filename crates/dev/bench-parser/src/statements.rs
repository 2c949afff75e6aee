//! The statements that are measured. They were written for this benchmark, and are like those of applications.

/// pgbench's select-only transaction.
pub const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = 12345;";

/// A report of about 2,700 bytes: CTEs, joins, windows, CASE.
pub const LONG: &str = include_str!("long.sql");

/// Statements like those of OLTP applications and ORMs, one a line. `scripts/release` also uses them for its profile of the parser.
pub fn oltp() -> Vec<&'static str> {
    include_str!("oltp.sql").lines().map(|line| line.trim_end_matches(';')).collect()
}
