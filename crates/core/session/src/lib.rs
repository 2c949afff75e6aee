//! PostgreSQL protocol sessions as state machines without I/O.
//!
//! [`backend`] plays the server to a client, [`frontend`] plays the client to a server, [`authentication`] has what
//! both prove themselves with. Nothing here has a socket, a clock or a global: input and output buffers are lent by
//! the caller, randomness comes through [`Entropy`].
//!
//! The machines have four kinds of methods: getters; `handle_*` for what happened; commands, which say what was
//! decided; `poll` for what to do next. After each `handle_*` and each command, `poll` until it gives `None`.

pub mod authentication;
pub mod backend;
mod entropy;
pub mod frontend;

pub use entropy::Entropy;
