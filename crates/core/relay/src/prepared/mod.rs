//! Prepared statements of the extended protocol: one global record for each distinct statement, which
//! clients know by names of their own and servers by one name of ours.

mod client;
mod registry;
mod server;
mod shape;

pub use client::{ClientStatements, Named, Unnamed};
pub(crate) use registry::NAME_PREFIX;
pub use registry::{Registry, Statement, StatementId};
pub use server::ServerStatements;
pub use shape::Shape;
