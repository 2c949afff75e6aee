//! Prepared statements of the extended protocol: one global record for each distinct statement, which
//! clients know by names of their own and servers by one name of ours.

mod client;
mod registry;
mod schema;
mod server;
mod shape;
mod statement;
mod unread;

pub use client::{ClientStatements, Named, significant};
pub use registry::Registry;
pub use schema::{Schema, Schemas, changes_definitions};
pub use server::ServerStatements;
pub use shape::Shape;
pub(crate) use statement::NAME_PREFIX;
pub use statement::{Parsed, Statement, StatementId};
pub(crate) use unread::Unread;
