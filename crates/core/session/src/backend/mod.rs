//! The server's side of a connection: a client logs in to us.

mod error;
pub mod login;
mod options;
mod password_exchange;
mod settings;
mod startup_parameters;
pub mod welcome;

pub use error::{LoginError, LoginFailure};
pub use login::{Challenge, Login, LoginEvent, Verified};
pub use settings::{LoginSettings, TlsOffer};
pub use startup_parameters::{Replication, StartupParameters};
pub use welcome::{CancelKey, welcome};
