//! `/metrics`, `/healthz` and `/readyz`, served by a thread of its own so that no scrape ever holds up a worker.
//!
//! A peer gets one answer per connection, has `header_timeout` for its request and [`CONNECTION_TIME_MAX`] for all of
//! it; more than `connections_max` connections wait in the kernel.

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

/// How long one connection may take in all: a peer that reads its answer a byte a second does not keep a place.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(30);

/// The longest request head that is read.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// How long to wait after an accept failed (no file descriptor is free, say) before the next one.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// The thread that serves the pages. Dropping it ends the thread and its connections.
#[derive(Debug)]
pub struct HttpThread {
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl HttpThread {
    /// The addresses that are listened on.
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

/// Listens as `settings` say and serves `page`; `None` if they say nowhere. An address that cannot be bound is an error
/// here, not a line in a log.
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
    let places =
        Arc::new(Semaphore::new((settings.connections_max as usize).clamp(1, Semaphore::MAX_PERMITS)));
    let header_timeout = settings.header_timeout;
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        runtime.block_on(async move {
            for listener in listeners {
                tokio::spawn(accept(listener, Arc::clone(&places), Arc::clone(&page), header_timeout));
            }
            let mut stopped = stopped;
            // An error means that the sender is gone, which is as good a reason to stop.
            let _ = stopped.wait_for(|stop| *stop).await;
        });
    })?;
    Ok(HttpThread { addresses, stop, thread: Some(thread) })
}

/// Binds every socket of `address`; of two, one may be missing because the machine lacks that family.
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

fn bind_one(address: SocketAddr, only_own_family: bool) -> io::Result<TcpListener> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() && only_own_family {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

async fn accept(
    listener: tokio::net::TcpListener,
    places: Arc<Semaphore>,
    page: Arc<dyn Page>,
    header_timeout: Duration,
) {
    loop {
        // A place before a connection: those that find none wait in the kernel.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let page = Arc::clone(&page);
                tokio::spawn(async move {
                    let _place = place;
                    let served =
                        tokio::time::timeout(CONNECTION_TIME_MAX, connection(stream, page, header_timeout))
                            .await;
                    if let Ok(Err(error)) = served {
                        tracing::debug!(%error, "an HTTP connection ended badly");
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

async fn connection(
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
