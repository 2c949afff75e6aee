//! A client's turn: what goes to whom, and when the server connection comes free.
//!
//! [`Board`] is one worker's switchboard, without I/O: it is told what arrived from clients and servers,
//! decides by the sessions, the pools and the prepared statements, and says what is to be written, dialled
//! and closed. The event loop around it, and the simulator in its tests, only carry that out.

pub mod board;
mod carried;
mod client;
mod counters;
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
mod wires;

pub use board::{Action, Board, CancelKeys, Mail, Note, Shared};
pub use carried::pins::Pin;
pub use carried::{parameters, prepared};
pub use client::{Client, Purpose, Stage};
pub use counters::Counters;
pub use directory::{AuthQuery, Database, Directory, EarlyRelease, Target, Timeouts, UnprovenLookUps, User};
pub use error::{ClientMisbehaved, ServerMisbehaved};
pub use keys::{ClientKey, Clients, ServerKey, Servers};
pub use limits::TurnLimits;
pub use outbox::Outbox;
pub use server::{Server, ServerStage};
pub use shown::in_short;
pub use text::{Classes, ClassesStatus};
pub use wires::Wires;
