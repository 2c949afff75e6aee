//! The parts of a session that a client takes from one server connection to the next: parameters and prepared statements. Also
//! the reasons why a client must keep its connection.
//!
//! [`Client`](crate::Client) records what a client has, and [`Server`](crate::Server) what a server connection has. What the
//! connection lacks is sent before the client's messages: parameters when the connection is lent ([`send_parameters`]),
//! statements when they are used (`turn/inject.rs`).

mod keep_reason;
pub mod parameters;
pub(crate) mod pins;
pub mod prepared;
pub(crate) mod resets;
mod send_parameters;

pub(crate) use keep_reason::{KeepReason, keep_reason};
pub(crate) use pins::{CleanUp, Pins};
pub(crate) use send_parameters::send_parameters;
