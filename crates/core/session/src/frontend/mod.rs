//! The client's side of a connection to a server: first [`login`], then [`connection`]. [`rows`] reads its results.

pub mod connection;
mod error;
pub mod login;
mod proof;
mod ready;
pub mod rows;
mod settings;

pub use connection::{Connection, Event, Pipeline};
pub use error::{LoginError, Misbehaviour, Refusal};
pub use login::{Login, LoginEvent};
pub use ready::{PARAMETERS_BYTES_MAX, PARAMETERS_MAX, ServerReady};
pub use settings::{Credential, ServerLogin, TlsWish};
