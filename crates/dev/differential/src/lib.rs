//! Plays whole sessions twice: directly on PostgreSQL, and through the proxy in transaction mode.
//!
//! A [`Script`] has the steps of several clients, one step of one client after the other. It is played on two databases with
//! the same contents. In the first, each client has its own connection. In the second, all clients share a pool with fewer
//! connections than clients, whose round robin gives each turn another server connection. Every answer must be equal, byte for
//! byte and message by message. So each client is compared, and each disturbs the server connections for the others.
//!
//! Scripts do not use features that stay behind ([docs/pooling.md](../../../../docs/pooling.md)). Other allowed differences are
//! removed from the answers at two places, each with its reason: `play/oids.rs` and `play/side.rs` (`sort_parameters`, and the
//! process id and key of a login).
//!
//! ```sh
//! cargo run -p trunkline-differential -- --statements 100000         # the long run
//! cargo run -p trunkline-differential -- --seed 7 --classes all,-ddl # one script, without these classes
//! ```

pub mod class;
pub mod generate;
pub mod play;
pub mod run;
pub mod script;
pub mod show;
pub mod shrink;

pub use class::{Class, Classes};
pub use run::{Options, Summary, run};
pub use script::Script;
