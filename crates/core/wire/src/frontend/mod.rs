//! The messages that a client sends after its first packet (for that see [`crate::startup`]): one module for each,
//! with the name from the manual.
//!
//! Each module has a `TAG`. For a message with a body, the module has a type that borrows the body, with methods
//! `decode` and `encode`. For a message without a body, it has a `FRAME` and functions `decode` and `encode`.

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

// These messages of COPY are the same in both directions.
pub use crate::backend::{CopyData, copy_data, copy_done};
