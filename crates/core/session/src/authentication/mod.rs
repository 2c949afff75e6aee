//! Authentication methods, for both sides of a connection: pure functions, or a short exchange.
//!
//! This module knows no protocol messages. [`crate::backend::login`] and [`crate::frontend::login`] put the data of
//! these exchanges into messages.

pub mod cleartext;
pub mod md5;
mod password;
mod saslprep;
pub mod scram;
pub mod secret;
pub mod userlist;

pub use password::Password;
pub use saslprep::saslprep;
pub use secret::Secret;
