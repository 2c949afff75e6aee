//! Names of connections: they outlive what they name, and then name nothing.

use trunkline_pool::arena::Key;

/// What client connections of a worker are named by.
pub enum Clients {}

/// What server connections of a worker are named by.
pub enum Servers {}

/// Names a client connection of a worker.
pub type ClientKey = Key<Clients>;

/// Names a server connection of a worker.
pub type ServerKey = Key<Servers>;
