//! We play the client to a server.

mod error;
pub mod login;
mod proof;
mod ready;
mod settings;

pub use error::{LoginError, Misbehaviour, Refusal};
pub use login::{Login, LoginEvent};
pub use ready::{PARAMETERS_BYTES_MAX, PARAMETERS_MAX, ServerReady};
pub use settings::{Credential, ServerLogin, TlsWish};
