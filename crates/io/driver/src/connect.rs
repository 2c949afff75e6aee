//! From a configuration to a connection in the runtime.
//!
//! Name look-ups, dialling and logins wait; they do so in a thread of their own, by the blocking driver's code. A pool's
//! connections are few and live long. The runtime's own threads for what waits would keep it from ending before they do.

use std::sync::Arc;

use tokio::sync::oneshot;
use trunkline_driver_blocking::parts::{Kind, Unused, establish};
use trunkline_driver_blocking::{Config, Error};

use crate::bounds::Bounds;
use crate::dispatch::Dispatcher;
use crate::link::{Link, Task};
use crate::transport::Transport;

/// Connects, and has the connection's task run.
pub(crate) async fn connect(config: &Config, bounds: Bounds, unused: Unused) -> Result<Arc<Link>, Error> {
    let config = config.clone();
    let established = apart(move || establish(&config)).await?;
    let transport = Transport::new(established.socket, established.tls)
        .map_err(|source| Error::new(Kind::Io { source, fate: None }))?;
    let dispatcher = Dispatcher::new(established.connection, Arc::clone(&unused));
    let link = Link::new(dispatcher, transport, established.input, established.cancel, unused, bounds);
    tokio::spawn(Task(Arc::clone(&link)));
    Ok(link)
}

/// Does something that waits in a thread of its own. When the future is dropped, the thread ends by itself: configure a
/// `connect_timeout`.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("trunkline-connect".to_owned());
    let spawned = thread.spawn(move || drop(sender.send(work())));
    spawned.map_err(|source| Error::new(Kind::Io { source, fate: None }))?;
    receiver.await.unwrap_or_else(|_| Err(Error::new(Kind::Closed)))
}
