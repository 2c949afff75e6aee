//! PostgreSQL's own grammar in Rust: the C parse tree read in place, without a copy.
