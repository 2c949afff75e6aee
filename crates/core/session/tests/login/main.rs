//! Logins of our frontend at our backend, and of both at peers that break the protocol.

mod client_misbehaves;
mod methods;
mod pair;
mod properties;
mod server_misbehaves;
mod start;
