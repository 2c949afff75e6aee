//! Serves `/metrics`, `/healthz` and `/readyz` on a thread of its own, so that no scrape delays a worker.
//!
//! A peer gets one answer per connection. It has `header_timeout` to send its request, and [`CONNECTION_TIME_MAX`] for
//! the whole connection. Connections beyond `connections_max` wait in the kernel.

mod page;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Semaphore, watch};

pub use page::Page;

use crate::config::{Http, ListenAddress};

/// How long one connection may last, so that a peer that reads its answer very slowly does not occupy a place for long.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(30);

/// The longest request head that is read.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// How long to wait after a failed accept (when no file descriptor is free, for example) before the next one.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// The thread that serves the pages. Dropping it ends the thread and its connections.
#[derive(Debug)]
pub struct HttpThread {
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpThread {
    /// The addresses of the listening sockets.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for HttpThread {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Listens on the address in `settings` and serves `page`; `None` if there is no address.
///
/// # Errors
/// The address cannot be bound.
pub fn start(settings: &Http, page: Arc<dyn Page>) -> io::Result<Option<HttpThread>> {
    let Some(address) = settings.listen else { return Ok(None) };
    let listeners =
        bind(address).map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
    serve(listeners, settings, page).map(Some)
}

/// Serves `page` on sockets that already listen.
pub fn serve(listeners: Vec<TcpListener>, settings: &Http, page: Arc<dyn Page>) -> io::Result<HttpThread> {
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let listeners = {
        let _inside = runtime.enter();
        let register = |listener: TcpListener| {
            listener.set_nonblocking(true)?;
            tokio::net::TcpListener::from_std(listener)
        };
        listeners.into_iter().map(register).collect::<io::Result<Vec<_>>>()?
    };
    let (stop, stopped) = watch::channel(false);
    let permits =
        Arc::new(Semaphore::new((settings.connections_max as usize).clamp(1, Semaphore::MAX_PERMITS)));
    let header_timeout = settings.header_timeout;
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        runtime.block_on(async move {
            for listener in listeners {
                tokio::spawn(accept(listener, Arc::clone(&permits), Arc::clone(&page), header_timeout));
            }
            let mut stopped = stopped;
            // An error means that the sender is gone: that is a reason to stop, too.
            let _ = stopped.wait_for(|stop| *stop).await;
        });
    })?;
    Ok(HttpThread { addresses, stop, thread: Some(thread) })
}

/// Binds every socket of `address`. If there are two, one may fail because the machine lacks that address family.
fn bind(address: ListenAddress) -> io::Result<Vec<TcpListener>> {
    let sockets = address.sockets();
    let several = sockets.len() > 1;
    let (mut listeners, mut failure) = (Vec::new(), None);
    for socket in sockets {
        match bind_one(socket, several) {
            Ok(listener) => listeners.push(listener),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied) =>
            {
                return Err(error);
            }
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

fn bind_one(address: SocketAddr, v6_only: bool) -> io::Result<TcpListener> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() && v6_only {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

async fn accept(
    listener: tokio::net::TcpListener,
    permits: Arc<Semaphore>,
    page: Arc<dyn Page>,
    header_timeout: Duration,
) {
    loop {
        // The permit comes before the accept, so that connections without a permit wait in the kernel.
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let page = Arc::clone(&page);
                tokio::spawn(async move {
                    let _permit = permit;
                    let served = tokio::time::timeout(
                        CONNECTION_TIME_MAX,
                        serve_connection(stream, page, header_timeout),
                    )
                    .await;
                    if let Ok(Err(error)) = served {
                        tracing::debug!(%error, "an HTTP connection failed");
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept an HTTP connection");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

async fn serve_connection(
    stream: tokio::net::TcpStream,
    page: Arc<dyn Page>,
    header_timeout: Duration,
) -> Result<(), hyper::Error> {
    let answer = service_fn(move |request| {
        let answer = page::answer(&request, page.as_ref());
        async move { Ok::<_, std::convert::Infallible>(answer) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(HEAD_BYTES_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answer)
        .await
}
