//! Blocking protocol peers under a test's full control: any bytes, in any order, cut anywhere.
//!
//! They are plain on purpose, and share no code with the proxy: a mistake there must not hide here.

mod client;
mod frame;
mod login;
mod messages;
mod server;

pub use client::{RawClient, ServerError};
pub use frame::{Frame, read_frame};
pub use messages::{Messages, cancel_request, ssl_request, startup};
pub use server::{RawServer, ServerConnection};
