//! A client's turn on a server connection: frames one way, answers the other.
//!
//! A **turn** is what a client sends up to and including a Sync (or one Query, or one FunctionCall), and
//! all its answers up to ReadyForQuery. [`Replies`] is the server connection's memory of what it owes.

mod from_client;
mod from_server;
#[cfg(test)]
mod long_queues;
mod places;
mod prepare;
mod replies;
mod undo;
mod unshared;

pub(crate) use from_client::{ClientStop, from_client, turn_is_ready};
pub(crate) use from_server::{ServerStop, from_server};
pub use replies::{Chore, CopyIn, Expect, Owner, Replies, Reply};
pub(crate) use undo::undo_lost;
