//! From a configuration to a connection that has logged in.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Instant;

use rand::seq::SliceRandom;
use trunkline_net::dial::ServerAddress;
use trunkline_net::tls::ClientTls;
use trunkline_session::frontend::connection::ConnectionLimits;
use trunkline_session::frontend::{
    Connection, Credential, Login, LoginError, LoginEvent, ServerLogin, ServerReady, TlsWish,
};
use trunkline_wire::Limits;

use crate::cancel::Place;
use crate::config::{ChannelBinding, Config, Host, LoadBalanceHosts, TargetSessionAttrs};
use crate::error::{Error, Kind};
use crate::link::Link;
use crate::socket::Socket;
use crate::tls;
use crate::transport::Transport;

/// A server that was reached, and where it was.
pub(crate) struct Reached {
    pub(crate) link: Link,
    pub(crate) place: Place,
    /// The name that its certificate was checked for.
    pub(crate) host: String,
}

/// Tries the hosts until one will do.
pub(crate) fn connect(config: &Config) -> Result<Reached, Error> {
    let tls = tls::client(&config.tls)?;
    let mut order: Vec<usize> = (0..config.hosts.len()).collect();
    if config.load_balance_hosts == LoadBalanceHosts::Random {
        order.shuffle(&mut rand::rng());
    }
    let mut failures = Vec::new();
    let standby_first = config.target_session_attrs == TargetSessionAttrs::PreferStandby;
    let rounds: &[TargetSessionAttrs] = if standby_first {
        &[TargetSessionAttrs::Standby, TargetSessionAttrs::Any]
    } else {
        &[config.target_session_attrs]
    };
    for wanted in rounds {
        for index in &order {
            let Some(host) = config.hosts.get(*index) else { continue };
            let attempt = Attempt { config, host, index: *index, tls: &tls };
            match attempt.reach(*wanted) {
                Ok(reached) => return Ok(reached),
                Err(error) => failures.push(Error::new(Kind::Connect { host: shown(host), source: error })),
            }
        }
    }
    Err(match failures.len() {
        1 => failures.remove(0),
        _ => Error::new(Kind::NoHost(failures)),
    })
}

fn shown(host: &Host) -> String {
    ServerAddress::new(&host.name, host.port).to_string()
}

/// One host.
struct Attempt<'a> {
    config: &'a Config,
    host: &'a Host,
    index: usize,
    tls: &'a ClientTls,
}

impl Attempt<'_> {
    fn reach(&self, wanted: TargetSessionAttrs) -> Result<Reached, Error> {
        let mut last = Error::new(Kind::NoAddress);
        for place in self.places()? {
            match self.reach_place(&place) {
                Ok(mut link) => {
                    suits(&mut link, wanted)?;
                    return Ok(Reached { link, place, host: self.host.name.clone() });
                }
                // What the server itself said would be said at its other addresses, too.
                Err(error) if error.server().is_some() => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Where the host may be: each address of its name, or its unix socket.
    fn places(&self) -> Result<Vec<Place>, Error> {
        if let Some(address) = self.host.address {
            return Ok(vec![Place::Tcp(SocketAddr::new(address, self.host.port))]);
        }
        match ServerAddress::new(&self.host.name, self.host.port) {
            ServerAddress::Tcp { host, port } => {
                let mut found: Vec<_> = (&*host, port).to_socket_addrs().map_err(io)?.collect();
                if self.config.load_balance_hosts == LoadBalanceHosts::Random {
                    found.shuffle(&mut rand::rng());
                }
                Ok(found.into_iter().map(Place::Tcp).collect())
            }
            unix => Ok(unix.socket_path().into_iter().map(Place::Unix).collect()),
        }
    }

    fn reach_place(&self, place: &Place) -> Result<Link, Error> {
        let unix = matches!(place, Place::Unix(_));
        let mut outcome = Err(Error::new(Kind::NoAddress));
        for wish in tls::attempts(&self.config.tls, unix) {
            outcome = self.log_in(place, *wish);
            // Only what the server has refused may be tried in another way.
            if !matches!(&outcome, Err(error) if error.server().is_some()) {
                break;
            }
        }
        outcome
    }

    fn log_in(&self, place: &Place, wish: TlsWish) -> Result<Link, Error> {
        if self.config.channel_binding == ChannelBinding::Require && wish == TlsWish::Never {
            return Err(Error::new(Kind::Unfit(
                "channel binding is required, and there is no TLS to bind to",
            )));
        }
        let deadline = self.config.connect_timeout.map(|limit| Instant::now() + limit);
        let mut transport = Transport::new(dial(place, self.config, deadline)?);
        let mut login = Login::new(Arc::new(self.login(wish)), &mut |bytes: &mut [u8]| rand::fill(bytes));
        let (mut input, mut out) = (Vec::new(), Vec::new());
        login.handle_connected(&mut out)?;
        let ready = loop {
            match login.poll() {
                Some(LoginEvent::StartTls) => {
                    let session = self.tls.connect(&self.host.name);
                    let session = session.map_err(|error| Error::new(Kind::Tls(error.to_string())))?;
                    transport.start_tls(session, deadline).map_err(io)?;
                    let direct = wish == TlsWish::Direct;
                    let session = transport.tls();
                    if direct && session.and_then(|session| session.alpn()).is_none() {
                        return Err(Error::new(Kind::Unfit("the server does not speak direct TLS")));
                    }
                    let binding = session.and_then(|session| session.channel_binding());
                    login.tls_started(self.binding(binding)?, &mut out)?;
                    continue;
                }
                Some(LoginEvent::Ready(ready)) => break ready,
                None => {}
            }
            send_all(&mut transport, &mut out, deadline)?;
            if transport.receive(&mut input, false, deadline).map_err(io)? == Some(0) {
                return Err(Error::new(Kind::Ended { reason: None, fate: None }));
            }
            let consumed = login.handle_bytes(&input, &mut out)?;
            input.drain(..consumed);
        };
        self.link(transport, ready, input)
    }

    fn login(&self, wish: TlsWish) -> ServerLogin {
        let config = self.config;
        let credential = match config.password(self.index) {
            Some(password) => Credential::Password { password: password.clone(), cached: None },
            None => Credential::None,
        };
        ServerLogin {
            parameters: config.parameters.clone(),
            credential,
            tls: wish,
            protocol: config.protocol,
            // As libpq.
            cleartext_without_tls: true,
            ..ServerLogin::new(config.user.clone(), config.database.clone())
        }
    }

    fn binding(&self, binding: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
        match self.config.channel_binding {
            ChannelBinding::Disable => Ok(None),
            ChannelBinding::Prefer => Ok(binding),
            ChannelBinding::Require if binding.is_none() => Err(Error::new(Kind::Unfit(
                "channel binding is required, and the server's certificate allows none",
            ))),
            ChannelBinding::Require => Ok(binding),
        }
    }

    fn link(&self, transport: Transport, ready: Box<ServerReady>, input: Vec<u8>) -> Result<Link, Error> {
        if self.config.channel_binding == ChannelBinding::Require && !ready.channel_bound {
            let problem =
                "channel binding is required, and the login was not bound to TLS by SCRAM-SHA-256-PLUS";
            return Err(Error::new(Kind::Unfit(problem)));
        }
        let limits = ConnectionLimits {
            limits: Limits::default(),
            server_message_bytes: self.config.server_message_bytes_max,
        };
        Ok(Link::new(Connection::new(ready, limits), transport, input))
    }
}

/// Connects, without logging in.
pub(crate) fn dial(place: &Place, config: &Config, deadline: Option<Instant>) -> Result<Socket, Error> {
    match place {
        Place::Unix(path) => Socket::unix(path).map_err(io),
        Place::Tcp(address) => {
            let stream = match deadline {
                None => TcpStream::connect(address),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Error::new(Kind::TimedOut));
                    }
                    TcpStream::connect_timeout(address, left)
                }
            };
            Socket::tcp(stream.map_err(io)?, &config.keepalives).map_err(io)
        }
    }
}

/// Sends everything in `out`, and empties it.
pub(crate) fn send_all(
    transport: &mut Transport,
    out: &mut Vec<u8>,
    deadline: Option<Instant>,
) -> Result<(), Error> {
    let mut sent = 0;
    while let Some(rest) = out.get(sent..).filter(|rest| !rest.is_empty()) {
        match transport.send(rest).map_err(io)? {
            0 => transport.wait_to_send(deadline).map_err(io)?,
            count => sent += count,
        }
    }
    out.clear();
    Ok(())
}

/// Whether the server is one that was asked for.
fn suits(link: &mut Link, wanted: TargetSessionAttrs) -> Result<(), Error> {
    use TargetSessionAttrs as T;
    let (name, text, expected, problem) = match wanted {
        T::Any | T::PreferStandby => return Ok(()),
        T::ReadWrite => {
            ("default_transaction_read_only", "show transaction_read_only", "off", "it is read-only")
        }
        T::ReadOnly => {
            ("default_transaction_read_only", "show transaction_read_only", "on", "it is not read-only")
        }
        T::Primary => ("in_hot_standby", "select pg_is_in_recovery()", "off", "it is a standby"),
        T::Standby => ("in_hot_standby", "select pg_is_in_recovery()", "on", "it is not a standby"),
    };
    // PostgreSQL 14 and later report both; the sum of them is what a transaction would be.
    let reported = |name: &str| link.server().parameter(name).map(str::to_owned);
    let found = match (reported(name), reported("in_hot_standby")) {
        (Some(_), Some(standby)) if standby == "on" => "on".to_owned(),
        (Some(found), Some(_)) => found,
        _ => match link.one_value(text)?.as_str() {
            "t" => "on".to_owned(),
            "f" => "off".to_owned(),
            other => other.to_owned(),
        },
    };
    if found == expected { Ok(()) } else { Err(Error::new(Kind::Unfit(problem))) }
}

fn io(error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::TimedOut {
        return Error::new(Kind::TimedOut);
    }
    Error::new(Kind::Io { source: error, fate: None })
}

impl From<LoginError> for Kind {
    fn from(error: LoginError) -> Self {
        Self::Login(error)
    }
}
