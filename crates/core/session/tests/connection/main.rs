//! A connection after its login, against servers that keep to the protocol and others that do not.

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
