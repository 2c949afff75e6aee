//! Fingerprints: one number for all statements that differ in literals only.
//!
//! The value is libpg_query's (version 3 of its fingerprints): XXH3 over the names and values of the fields that matter,
//! in alphabetical order, elements of some lists in the order of their own hashes and each once. Here the bytes to be
//! hashed are written once, to one buffer, and the elements put in order there.

mod relation;
mod write;

use std::fmt;

use crate::node::Node;
use crate::raw::ParsedSql;

/// The number that statements have in common if they differ in literals only. Written as 16 hexadecimal digits.
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

/// What a fingerprint tells apart. The default is libpg_query 18's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FingerprintOptions {
    /// Whether names of tables count as they are; by default, digits that follow each other do not (`log_202401`).
    pub full_relation_names: bool,
    /// Whether the names of tables count and not their aliases; by default an alias counts instead of the name.
    pub ignore_aliases: bool,
    /// Whether names of schemas count in queries too.
    pub include_schemas: bool,
}

impl ParsedSql {
    /// The fingerprint of all the statements together: equal to what pg_query 18 gives for the text.
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

    /// The fingerprint that tells apart what `options` say.
    pub fn fingerprint_with(&self, options: FingerprintOptions) -> Fingerprint {
        write::of_list(self.root(), options)
    }
}

impl Node<'_> {
    /// The fingerprint of this node and what is below it: `pg_query_fingerprint_node`'s.
    pub fn fingerprint(self, options: FingerprintOptions) -> Fingerprint {
        write::of_node(self, options)
    }
}
