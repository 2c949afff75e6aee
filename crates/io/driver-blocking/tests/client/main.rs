//! The blocking client against PostgreSQL 15 and 18: by TCP, by the unix socket, and through the proxy.

mod batches;
mod copies;
mod endings;
mod logins;
mod place;
mod queries;
mod statements;
mod transactions;
mod types;
