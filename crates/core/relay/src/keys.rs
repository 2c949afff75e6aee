//! Keys of connections. The key of a closed connection finds nothing.

use trunkline_pool::arena::Key;

/// Marks the keys of a worker's client connections.
pub enum Clients {}

/// Marks the keys of a worker's server connections.
pub enum Servers {}

/// The key of a client connection of one worker.
pub type ClientKey = Key<Clients>;

/// The key of a server connection of one worker.
pub type ServerKey = Key<Servers>;
