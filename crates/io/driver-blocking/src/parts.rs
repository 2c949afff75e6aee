//! What `trunkline-driver` is built of besides the public items: for it alone, and without a promise to others.
//!
//! Everything here is about configuration, logins, statements and rows. The two drivers differ in who waits, and how.

use trunkline_net::tls::TlsSession;
use trunkline_session::frontend::Connection;

pub use crate::error::Kind;
pub use crate::parameters::write as write_parameters;
pub use crate::simple::take as take_simple;
pub use crate::socket::Socket;
pub use crate::statement::{Catalog, Described, LOOK_UP, LOOK_UP_TYPES, StatementCache, Unused};

use crate::cancel::CancelToken;
use crate::config::Config;
use crate::connect;
use crate::error::Error;

/// A connection that has logged in at a server that will do.
#[derive(Debug)]
pub struct Established {
    pub connection: Connection,
    pub socket: Socket,
    pub tls: Option<Box<TlsSession>>,
    /// Bytes that were received and not consumed.
    pub input: Vec<u8>,
    pub cancel: CancelToken,
}

/// Tries the hosts until one will do. It waits, as [`Client::connect_to`](crate::Client::connect_to) does.
///
/// # Errors
/// When no host will do; the error says of each why not.
pub fn establish(config: &Config) -> Result<Established, Error> {
    let connect::Reached { link, place, host } = connect::connect(config)?;
    let (connection, transport, input) = link.into_parts();
    let (socket, tls) = transport.into_parts();
    let mut request = Vec::new();
    connection.cancel_request(&mut request);
    let cancel = CancelToken { config: config.clone(), place, host, request };
    Ok(Established { connection, socket, tls, input, cancel })
}
