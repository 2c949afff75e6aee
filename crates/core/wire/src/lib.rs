//! PostgreSQL's frontend/backend protocol, versions 3.0 and 3.2, as bytes in and bytes out.
//!
//! Nothing here does I/O, keeps state or allocates while it decodes: a message is a struct that borrows the
//! bytes it was read from, and an encoder appends to a buffer its caller owns. What a message *means* at a
//! given moment is the session's business, not this crate's.
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
//! | [`read`], [`write`](mod@write) | the primitives the above are made of |
//!
//! The names are those of the manual's chapter on the protocol, in particular its section on message formats.
//! Bodies are what follows the tag and the length.
//!
//! Bytes of a peer never make this crate panic: they are decoded or they are an error.

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
