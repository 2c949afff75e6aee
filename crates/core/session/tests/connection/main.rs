//! Tests a connection after its login, with servers that follow the protocol and servers that break it.

mod answers;
mod captured;
mod copies;
mod fates;
mod feed;
mod model;
mod model_copy;
mod properties;
mod rows;
mod server_misbehaves;
