//! Fingerprints: statements that differ only in literals have the same number.
//!
//! The value is the same as libpg_query's (version 3 of its fingerprints). It is an XXH3 hash of the names and values
//! of the fields that count, in alphabetical order. In some lists the elements are in the order of their own hashes,
//! each once. Here all bytes are written to one buffer, and elements are put in order there.

mod relation;
mod write;

use std::fmt;

use crate::node::Node;
use crate::raw::ParsedSql;

/// The number that is the same for statements that differ only in literals. It is shown as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// What a fingerprint depends on. The default is the same as libpg_query 18's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FingerprintOptions {
    /// Whether table names count completely. By default, several digits in a row do not count (`log_202401`).
    pub full_relation_names: bool,
    /// Whether table names count and aliases do not. By default an alias counts instead of the name.
    pub ignore_aliases: bool,
    /// Whether schema names also count in queries.
    pub include_schemas: bool,
}

impl ParsedSql {
    /// The fingerprint of all statements together. It is the same as pg_query 18's for the text.
    ///
    /// ```
    /// let one = trunkline_parser::parse("SELECT a FROM t WHERE b IN (1, 2)")?.fingerprint();
    /// let two = trunkline_parser::parse("select a from t where b in (3, 4, 5)")?.fingerprint();
    /// assert_eq!(one, two);
    /// assert_eq!(one.to_string().len(), 16);
    /// # Ok::<(), trunkline_parser::ParseError>(())
    /// ```
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint_with(FingerprintOptions::default())
    }

    /// The fingerprint with these options.
    pub fn fingerprint_with(&self, options: FingerprintOptions) -> Fingerprint {
        write::of_list(self.root(), options)
    }
}

impl Node<'_> {
    /// The fingerprint of this node and everything below it, the same as of `pg_query_fingerprint_node`.
    pub fn fingerprint(self, options: FingerprintOptions) -> Fingerprint {
        write::of_node(self, options)
    }
}
