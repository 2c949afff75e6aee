//! The asynchronous client against PostgreSQL 15 and 18: by TCP, by the unix socket, with TLS, and through the proxy.

mod batches;
mod copies;
mod drops;
mod endings;
mod limits;
mod place;
mod queries;
mod sharing;
mod statements;
mod transactions;
