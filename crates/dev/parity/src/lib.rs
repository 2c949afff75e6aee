//! Compares our parser with pg_query, on the statements of PostgreSQL's own regression scripts.
//!
//! [`corpus`] has the statements, [`oracle`] has pg_query's results, and [`compare()`] runs a comparison over all statements. The
//! comparisons are this crate's tests, one file for each function of the parser:
//!
//! ```no_run
//! use trunkline_parity::{compare, oracle, same_value};
//!
//! compare("which texts are SQL", |statement| {
//!     let expected = oracle::json(&statement.sql).is_ok();
//!     same_value(&expected, &trunkline_parser::parse(&statement.sql).is_ok())
//! });
//! ```

mod compare;
pub mod corpus;
pub mod oracle;

pub use compare::{compare, compare_in, same, same_value};
pub use corpus::Statement;
