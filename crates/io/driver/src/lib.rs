//! PostgreSQL driver for tokio.
//!
//! A [`Client`] is a cheap handle: clones of it share one connection, and what many tasks ask at once pipelines by itself. The
//! protocol is `trunkline-session`'s; configuration, statements, rows and errors are those of `trunkline-driver-blocking`.
//!
//! ```no_run
//! # async fn example() -> Result<(), trunkline_driver::Error> {
//! use trunkline_driver::Client;
//!
//! let client = Client::connect("postgres://app@localhost/app").await?;
//! for row in &client.query("select id, name from harbors where id < $1", &[&10_i32]).await? {
//!     let (id, name): (i32, &str) = (row.get(0)?, row.get("name")?);
//!     println!("{id} {name}");
//! }
//! # Ok(()) }
//! ```

mod batch;
mod bounds;
mod cancel;
mod client;
mod connect;
mod copy;
mod dispatch;
mod link;
mod listen;
mod nap;
pub mod pool;
mod stream;
mod transaction;
mod transport;

pub use postgres_types as types;
pub use trunkline_driver_blocking::config::{self, Config};
pub use trunkline_driver_blocking::{
    BatchResult, Begin, Column, ColumnIndex, Error, Fate, IsolationLevel, Item, Notice, Notification,
    OwnedRow, Row, RowIter, Rows, ServerError, SimpleResult, SimpleRow, Statement, ToStatement,
};

pub use batch::Batch;
pub use bounds::Bounds;
pub use cancel::CancelToken;
pub use client::{Client, Parameter};
pub use copy::{CopyIn, CopyOut};
pub use listen::{Notices, Notifications};
pub use stream::RowStream;
pub use transaction::{Portal, Transaction};
