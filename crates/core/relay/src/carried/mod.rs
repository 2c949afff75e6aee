//! What a session carries from server connection to server connection, and what binds it to one.
//!
//! A client's side of it is in [`Client`](crate::Client), a connection's in [`Server`](crate::Server). What a connection lacks
//! for a client is sent ahead of the client's turn: parameters when it is lent ([`bring_parameters`]), statements when they
//! are used (`turn/inject.rs`).

mod bond;
mod bring;
pub mod parameters;
pub(crate) mod pins;
pub mod prepared;
pub(crate) mod resets;

pub(crate) use bond::{Bond, bond};
pub(crate) use bring::bring_parameters;
pub(crate) use pins::{CleanUp, Pins};
