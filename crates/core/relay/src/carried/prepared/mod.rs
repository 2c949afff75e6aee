//! Prepared statements of the extended query protocol. Each distinct statement has one record for all workers. Each client has
//! its own names for statements; all server connections have a statement under the same name, which we choose.

mod client;
mod registry;
mod schema;
mod server;
mod shape;
mod statement;
mod without_parse_settings;

pub use client::{ClientStatements, Named, truncate_name};
pub use registry::Registry;
pub use schema::{Schema, Schemas, changes_definitions};
pub use server::ServerStatements;
pub use shape::Shape;
pub(crate) use statement::NAME_PREFIX;
pub use statement::{ParseRequest, Statement, StatementId};
pub(crate) use without_parse_settings::WithoutParseSettings;
