//! PostgreSQL protocol sessions as state machines without I/O.
//!
//! [`backend`] is the server's side of a connection to a client. [`frontend`] is the client's side of a connection to
//! a server. [`authentication`] has the methods with which either side proves its identity. This crate has no socket,
//! no clock and no global. The caller lends input and output buffers, and gives randomness through [`Entropy`].
//!
//! A state machine has four kinds of methods: getters; `handle_*`, which tell it what happened; commands, which tell it
//! what the caller has decided; and `poll`, which returns what the caller must do next. After each `handle_*` and each
//! command, call `poll` until it returns `None`.

pub mod authentication;
pub mod backend;
mod entropy;
pub mod frontend;

pub use entropy::Entropy;
