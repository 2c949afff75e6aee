//! PostgreSQL's own grammar in Rust: the C parse tree read in place, without a copy.
//!
//! ```
//! let tree = trunkline_parser::parse("SELECT 1; SELECT 2")?;
//! assert_eq!(tree.root().len(), 2);
//! # Ok::<(), trunkline_parser::ParseError>(())
//! ```

pub mod cache;
pub mod classify;
mod comments;
mod debug;
mod deep;
mod deparse;
pub mod edit;
mod equal;
mod error;
mod fingerprint;
mod is_utility;
mod json;
pub mod key;
pub mod lexer;
pub mod node;
mod normalize;
mod options;
mod pg_qsort;
mod plpgsql;
mod raw;
pub mod references;
mod scan;
mod split;
mod summary;
mod tame;
mod truncate;
mod walk;

pub use comments::{comments, comments_with};
pub use deparse::{Comment, DeparseError, DeparseOptions};
pub use error::{ParseError, SqlState};
pub use fingerprint::{Fingerprint, FingerprintOptions};
pub use is_utility::is_utility;
pub use normalize::{normalize, normalize_utility};
pub use options::{Mode, ParseOptions, REPEATED_BYTES_MAX, TEXT_BYTES_MAX, TREE_BYTES_MAX};
pub use plpgsql::parse_plpgsql;
pub use raw::{List, ParsedSql};
#[cfg(feature = "oracle")]
#[doc(hidden)]
pub use scan::scan_by_c;
pub use scan::{scan, scan_with};
pub use split::{split_with_parser, split_with_scanner, split_with_scanner_with};
pub use summary::{FilterColumn, Summary, SummaryContext, SummaryFunction, SummaryTable, summary};
pub use tame::OPERATOR_RUN_WORK_MAX;
pub use truncate::truncate;
pub use walk::{Link, Nodes, Path, Step, Visitor};

/// Parses SQL: any number of statements with semicolons between them.
///
/// # Errors
/// PostgreSQL's error for the text, with its position.
pub fn parse(text: &str) -> Result<ParsedSql, ParseError> {
    raw::parse(text, ParseOptions::default())
}

/// As [`parse`], but with options.
///
/// # Errors
/// As for [`parse`].
pub fn parse_with(text: &str, options: ParseOptions) -> Result<ParsedSql, ParseError> {
    raw::parse(text, options)
}
