//! A client's turn on a server connection: messages in one direction, answers in the other.
//!
//! A **turn** is what a client sends up to and including a Sync (or one Query, or one FunctionCall), with all its
//! answers up to ReadyForQuery. [`Replies`] is the queue of the answers that a server connection still owes.

mod body;
mod client_step;
mod context;
mod copy;
mod expect;
mod from_client;
mod from_server;
mod inject;
#[cfg(test)]
mod long_queues;
mod own_names;
mod parse_settings;
mod pending;
mod places;
mod portals;
mod prepare;
mod ready;
mod replies;
mod reply;
mod server_errors;
mod server_step;
mod shape_check;
#[allow(clippy::module_inception)]
mod turn;
mod turns;
mod undo;
mod unsettled;
mod unshared;

pub(crate) use client_step::ClientStop;
pub(crate) use context::Context;
pub(crate) use copy::CopyState;
pub use expect::{Expect, Fate, Message, Renamed, Subject, Undo};
pub(crate) use from_client::{
    begins_transaction_before_other_turns, from_client, is_answered, turn_is_ready,
};
pub(crate) use from_server::{from_server, send_local_answers};
pub(crate) use pending::Pending;
pub use replies::{CopyIn, Replies};
pub use reply::Reply;
pub(crate) use server_step::ServerStop;
pub use turn::{Chore, Owner};
pub(crate) use turn::{Record, Turn};
pub(crate) use turns::{LostTurns, Turns};
pub(crate) use undo::undo_lost;
