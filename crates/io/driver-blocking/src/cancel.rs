//! Asking a server to cancel what a connection runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use trunkline_net::tls::SslMode;
use trunkline_wire::startup::{SSL_ACCEPTED, SSL_REQUEST};

use crate::config::Config;
use crate::connect::{dial, send_all};
use crate::error::{Error, Kind};
use crate::tls;
use crate::transport::Transport;

/// Where a server was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// Cancels what a connection runs, from any thread. `Debug` does not show the key.
#[derive(Clone)]
pub struct CancelToken {
    pub(crate) config: Config,
    pub(crate) place: Place,
    /// The name that the certificate is checked for.
    pub(crate) host: String,
    /// The whole request; empty when the server gave no key.
    pub(crate) request: Vec<u8>,
}

impl CancelToken {
    /// Asks, and waits until the server has heard it (it closes the connection then). Whether something was cancelled shows
    /// in what ran: SQLSTATE 57014.
    ///
    /// As libpq since 17, it goes by TLS wherever the connection itself did.
    ///
    /// # Errors
    /// When the server cannot be reached, or gave no key at login.
    pub fn cancel(&self) -> Result<(), Error> {
        if self.request.is_empty() {
            return Err(Error::new(Kind::Usage("the server gave no key to cancel with")));
        }
        let deadline = self.config.connect_timeout.map(|limit| Instant::now() + limit);
        let mut transport = Transport::new(dial(&self.place, &self.config, deadline)?);
        let mut input = Vec::new();
        let failed = |source| Error::new(Kind::Io { source, fate: None });
        let mode = self.config.tls.mode;
        if mode.asks_first() && !matches!(self.place, Place::Unix(_)) {
            let mut accepted = self.config.tls.direct;
            if !accepted {
                send_all(&mut transport, &mut SSL_REQUEST.to_vec(), deadline)?;
                transport.receive(&mut input, false, deadline).map_err(failed)?;
                accepted = input == [SSL_ACCEPTED];
            }
            if accepted {
                let session = tls::client(&self.config.tls)?.connect(&self.host);
                let session = session.map_err(|error| Error::new(Kind::Tls(error.to_string())))?;
                transport.start_tls(session, deadline).map_err(failed)?;
            } else if mode >= SslMode::Require {
                return Err(Error::new(Kind::Unfit("the server does not offer TLS")));
            }
        }
        send_all(&mut transport, &mut self.request.clone(), deadline)?;
        input.clear();
        match transport.receive(&mut input, false, deadline) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

impl std::fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelToken").field("place", &self.place).finish_non_exhaustive()
    }
}
