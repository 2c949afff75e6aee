//! PostgreSQL driver without a runtime.
//!
//! [`Client`] is a blocking connection: a thin shell around `trunkline-session`'s connection, which has the protocol. The
//! asynchronous driver shares [`Config`], statements, rows and errors with it.
//!
//! ```no_run
//! # fn main() -> Result<(), trunkline_driver_blocking::Error> {
//! use trunkline_driver_blocking::Client;
//!
//! let mut client = Client::connect("postgres://app@localhost/app")?;
//! for row in &client.query("select id, name from harbors where id < $1", &[&10_i32])? {
//!     let (id, name): (i32, &str) = (row.get(0)?, row.get("name")?);
//!     println!("{id} {name}");
//! }
//! # Ok(()) }
//! ```
//!
//! Parameters and columns are [`types::ToSql`] and [`types::FromSql`] of `postgres-types`, so that what implements these
//! works here as it does elsewhere.

mod batch;
mod cancel;
mod client;
pub mod config;
mod connect;
mod copy;
mod error;
mod link;
mod notice;
mod parameters;
#[doc(hidden)]
pub mod parts;
mod rows;
mod simple;
mod socket;
mod statement;
mod tls;
mod transaction;
mod transport;
mod wire;

pub use postgres_types as types;

pub use batch::{Batch, BatchResult, Item};
pub use cancel::CancelToken;
pub use client::{Client, Source, ToStatement};
pub use config::Config;
pub use copy::{CopyIn, CopyOut};
pub use error::{Error, Fate, ServerError};
pub use notice::{Notice, Notification};
pub use rows::{Column, ColumnIndex, OwnedRow, Row, RowIter, Rows};
pub use simple::{SimpleResult, SimpleRow};
pub use statement::Statement;
pub use transaction::{Begin, IsolationLevel, Transaction};
pub use wire::{Login, Wire};
