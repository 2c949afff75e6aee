//! PostgreSQL's frontend/backend protocol, versions 3.0 and 3.2, as bytes in and bytes out.
//!
//! This crate does no I/O, keeps no state, and allocates nothing while it decodes. A decoded message is a struct
//! that borrows the bytes it was read from. An encoder appends to a buffer that the caller owns. This crate does
//! not know which messages are allowed at a given moment; the session crate does.
//!
//! | module | what it holds |
//! |---|---|
//! | [`frame`] | the five bytes before every message: tag and length |
//! | [`backend`] | one module for each message a server sends |
//! | [`frontend`] | one module for each message a client sends once it has started up |
//! | [`startup`] | what a client sends first, which has no tag |
//! | [`list`] | the counted lists inside messages, as lazy iterators |
//! | [`sqlstate`] | the five-letter error codes |
//! | [`limits`] | how long a message may be, and when |
//! | [`read`], [`write`](mod@write) | reading and writing of single fields, for the modules above |
//!
//! The names are those of the manual's chapter on the protocol, in particular its section on message formats.
//! The body of a message is what follows its tag and its length.
//!
//! No bytes from a peer make this crate panic: it decodes them or returns an error.

pub mod backend;
pub mod frame;
pub mod frontend;
pub mod limits;
pub mod list;
pub mod read;
mod redact;
pub mod sqlstate;
pub mod startup;
pub mod write;

pub use frame::{FrameError, HEADER_BYTES, Header, header};
pub use limits::{Limits, OverLimit};
pub use list::Format;
pub use read::{Malformed, Problem};
pub use sqlstate::SqlState;
pub use write::TooLarge;
