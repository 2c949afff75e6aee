//! Authentication methods, each as pure functions or a short exchange, for both sides of a connection.
//!
//! Nothing here knows a message frame: [`crate::backend::login`] and [`crate::frontend::login`] carry these
//! exchanges over the protocol.

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
