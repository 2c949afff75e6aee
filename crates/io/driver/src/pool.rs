//! A pool of connections, by `deadpool`.

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use trunkline_driver_blocking::{Config, Error};

use crate::bounds::Bounds;
use crate::client::Client;

/// Makes connections for a [`Pool`].
#[derive(Debug, Clone)]
pub struct Manager {
    config: Config,
    bounds: Bounds,
}

/// A pool: `Pool::builder(Manager::new(config)).max_size(8).build()`, then `pool.get().await`. What it gives is a [`Client`] for as
/// long as it is held.
pub type Pool = managed::Pool<Manager>;

impl Manager {
    /// For connections by this configuration.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, bounds: Bounds::default() }
    }

    /// With bounds of what each connection may hold.
    #[must_use]
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }
}

impl managed::Manager for Manager {
    type Type = Client;
    type Error = Error;

    async fn create(&self) -> Result<Client, Error> {
        Client::connect_with(&self.config, self.bounds).await
    }

    /// A connection that has ended, or that somebody left in a transaction by SQL of their own, is not given out again.
    async fn recycle(&self, client: &mut Client, _: &Metrics) -> RecycleResult<Error> {
        if client.is_closed() {
            return Err(RecycleError::message("the connection has ended"));
        }
        if client.is_in_transaction() {
            return Err(RecycleError::message("a transaction was left open"));
        }
        Ok(())
    }
}
