//! Blocking protocol peers that a test controls completely: any bytes, in any order, cut anywhere.
//!
//! They share no code with the proxy on purpose, so that a mistake in its code cannot hide itself.

mod client;
mod frame;
mod login;
mod messages;
mod server;

pub use client::{RawClient, ServerError};
pub use frame::{Frame, read_frame};
pub use messages::{Messages, cancel_request, ssl_request, startup};
pub use server::{RawServer, ServerConnection};
