//! Whole sessions, played twice: direct on PostgreSQL, and through the proxy in transaction mode.
//!
//! A [`Script`] is what several clients do, one step of one client after the other. It is played on two databases of
//! the same contents: in the first each client has a connection of its own, in the second all share a pool with fewer
//! connections than clients, whose round robin puts each turn on another server connection. Every answer must be the
//! same, byte for byte and message by message. So each client is compared, and churns for the others.
//!
//! What [docs/pooling.md](../../../../docs/pooling.md) says stays behind is not generated. What may differ otherwise is
//! made comparable, each with its reason, at two places: `play/oids.rs` and `play/side.rs` (`sort_parameters`, and the
//! process id and key that a login gives).
//!
//! ```sh
//! cargo run -p trunkline-differential -- --statements 100000         # the long run
//! cargo run -p trunkline-differential -- --seed 7 --classes all,-ddl # one script, without what is left out
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
