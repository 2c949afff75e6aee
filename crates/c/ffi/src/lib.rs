//! Trunkline for C: `include/trunkline.h`.
//!
//! Three layers. The innermost, the protocol without I/O, is `trunkline-codec` and can be linked alone. [`connection`] gives its
//! sessions a socket. [`parser`] is PostgreSQL's own grammar. What callers in C owe is said in `trunkline-codec`.

pub mod connection;
pub mod convenience;
pub mod copy;
mod failure;
mod line;
pub mod parser;
pub mod unasked;

// So that the shared library has them.
pub use trunkline_codec::api;
