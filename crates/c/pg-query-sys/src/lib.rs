//! PostgreSQL's parser in C, compiled from the source libpg_query carries, and its nodes as Rust sees them.
//!
//! Nothing here is safe to use: `trunkline-parser` is the safe way in.

mod calls;
pub mod nodes;

pub use calls::*;
