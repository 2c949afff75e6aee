//! Our parser against pg_query, on the statements of PostgreSQL's own regression scripts.
//!
//! [`corpus`] has the statements, [`oracle`] what pg_query gives for one, and [`compare()`] runs a comparison over all of
//! them. The comparisons are this crate's tests, one file a function of the parser:
//!
//! ```ignore
//! #[test]
//! fn json() {
//!     compare("json", |statement| match (oracle::json(&statement.sql), trunkline_parser::parse(&statement.sql)) {
//!         (Ok(expected), Ok(parsed)) => same(&expected, &parsed.to_json()),
//!         ...
//!     });
//! }
//! ```

mod compare;
pub mod corpus;
pub mod oracle;

pub use compare::{compare, compare_in, same, same_value};
pub use corpus::Statement;
