//! Tests logins: our frontend with our backend, and each of them with peers that break the protocol.

mod client_misbehaves;
mod methods;
mod pair;
mod properties;
mod server_misbehaves;
mod start;
