//! PostgreSQL's protocol without I/O, for C: the innermost layer of `trunkline.h`.
//!
//! A **session** is both halves of a connection: messages are encoded into its buffer, received bytes are decoded by it
//! into events and results. A **login** is what comes before. Neither has a socket, a clock or a thread: a program
//! that links `libtrunkline_codec.a` alone gets none of these.
//!
//! # The caller's promise
//! What a function is given by pointer and length is there, and nobody changes it, until the function returns; what it
//! writes to belongs to the caller. Everything else is checked: handles are numbers (see [`handles`]), lengths and
//! texts are looked at, and no panic leaves a function ([`boundary`]). That is why `unsafe` is here and in `trunkline-ffi`.

pub mod api;
pub mod boundary;
pub mod handles;
mod login;
pub mod objects;
pub mod result;
pub mod session;
pub mod status;
mod typed;
