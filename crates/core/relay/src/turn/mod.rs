//! A client's turn on a server connection: frames one way, answers the other.
//!
//! A **turn** is what a client sends up to and including a Sync (or one Query, or one FunctionCall), and
//! all its answers up to ReadyForQuery. [`Replies`] is the server connection's memory of what it owes.

mod body;
mod client_step;
mod copy;
mod expect;
mod fitness;
mod from_client;
mod from_server;
mod inject;
#[cfg(test)]
mod long_queues;
mod own_names;
mod path;
mod pending;
mod places;
mod portals;
mod prepare;
mod reading;
mod ready;
mod replies;
mod reply;
mod server_errors;
mod server_step;
#[allow(clippy::module_inception)]
mod turn;
mod turns;
mod undo;
mod unsettled;
mod unshared;

pub(crate) use client_step::ClientStop;
pub(crate) use copy::CopyState;
pub use expect::{Expect, Fate, Foreign, Message, Subject, Undo};
pub(crate) use from_client::{from_client, is_answered, is_begun_transaction, turn_is_ready};
pub(crate) use from_server::{from_server, give_first};
pub(crate) use path::Path;
pub(crate) use pending::Pending;
pub use replies::{CopyIn, Replies};
pub use reply::Reply;
pub(crate) use server_step::ServerStop;
pub use turn::{Chore, Owner};
pub(crate) use turn::{Record, Turn};
pub(crate) use turns::{LostTurns, Turns};
pub(crate) use undo::undo_lost;
