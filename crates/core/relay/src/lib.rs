//! Relays turns between clients and server connections, and decides when a server connection becomes free.
//!
//! [`Board`] holds the state of one worker and does no I/O. The code around it (the proxy's event loop, or the
//! simulation in the tests) tells it what clients and servers have sent. The board decides what to write and which
//! connections to open and close, and the code around it does that.

pub mod board;
mod carried;
mod client;
mod counters;
mod direct_send;
pub mod directory;
mod error;
mod inbox;
mod keys;
mod limits;
mod outbox;
mod rest;
mod server;
mod shown;
mod text;
pub mod turn;
mod welcome;

pub use board::{Action, Board, CancelKeys, Mail, Note, Shared};
pub use carried::pins::Pin;
pub use carried::{parameters, prepared};
pub use client::{Client, Purpose, Stage};
pub use counters::Counters;
pub use direct_send::DirectSend;
pub use directory::{AuthQuery, Database, Directory, EarlyRelease, Target, Timeouts, UnprovenLookUps, User};
pub use error::{ClientMisbehaved, ServerMisbehaved};
pub use keys::{ClientKey, Clients, ServerKey, Servers};
pub use limits::TurnLimits;
pub use outbox::Outbox;
pub use server::{Server, ServerStage};
pub use shown::shorten_name;
pub use text::{Classes, ClassesStatus};
