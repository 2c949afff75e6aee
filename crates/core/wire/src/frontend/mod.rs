//! What a client sends once it has started up: one module for each message, named as the manual names it.
//!
//! Each has a `TAG`. Messages with a body have a type that borrows it, with `decode` and `encode`; those without
//! have a `FRAME` and functions of those names. What comes before is in [`crate::startup`].

pub mod bind;
pub mod close;
pub mod copy_fail;
pub mod describe;
pub mod execute;
pub mod flush;
pub mod function_call;
pub mod gss_response;
pub mod message;
pub mod parse;
pub mod password_message;
pub mod query;
pub mod sasl_initial_response;
pub mod sasl_response;
pub mod sync;
pub mod target;
pub mod terminate;

pub use bind::{Bind, BindNames};
pub use close::Close;
pub use copy_fail::CopyFail;
pub use describe::Describe;
pub use execute::Execute;
pub use function_call::FunctionCall;
pub use gss_response::GssResponse;
pub use message::{Message, PasswordKind};
pub use parse::Parse;
pub use password_message::PasswordMessage;
pub use query::Query;
pub use sasl_initial_response::SaslInitialResponse;
pub use sasl_response::SaslResponse;
pub use target::Target;

// Copied data looks the same from either side.
pub use crate::backend::{CopyData, copy_data, copy_done};
