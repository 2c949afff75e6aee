//! Where Trunkline listens, and where servers are.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::setting::{MayBeAbsent, Refusal, Setting};
use super::value::Value;

/// A TCP address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListenAddress {
    /// `*:6432`: every address, IPv4 and IPv6.
    Every {
        /// TCP port.
        port: u16,
    },
    /// `localhost:6432`: 127.0.0.1 and ::1.
    Localhost {
        /// TCP port.
        port: u16,
    },
    /// `127.0.0.1:6432` or `[::1]:6432`.
    One(SocketAddr),
}

impl ListenAddress {
    /// Reads `host:port`, where host is `*`, `localhost` or an IP address (IPv6 in brackets).
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return (address.port() != 0).then_some(Self::One(address));
        }
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse::<u16>().ok().filter(|port| *port != 0)?;
        match host {
            "*" => Some(Self::Every { port }),
            "localhost" => Some(Self::Localhost { port }),
            _ => None,
        }
    }

    /// The sockets to bind, the most important one first. `*` and `localhost` have two, one for each address family. One of
    /// the two may fail because the machine lacks that family. The IPv6 socket must be bound with `IPV6_V6ONLY`, or it
    /// collides with the IPv4 socket.
    pub fn sockets(&self) -> Vec<SocketAddr> {
        let both = |v4: Ipv4Addr, v6: Ipv6Addr, port: u16| vec![(v4, port).into(), (v6, port).into()];
        match *self {
            Self::Every { port } => both(Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED, port),
            Self::Localhost { port } => both(Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST, port),
            Self::One(address) => vec![address],
        }
    }

    /// Whether only this machine can reach the address.
    pub fn is_loopback(&self) -> bool {
        self.sockets().iter().all(|socket| match socket.ip() {
            IpAddr::V4(ip) => ip.is_loopback(),
            IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every { port } => write!(f, "*:{port}"),
            Self::Localhost { port } => write!(f, "localhost:{port}"),
            Self::One(address) => address.fmt(f),
        }
    }
}

impl Setting for ListenAddress {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        value.as_text().and_then(Self::parse).ok_or_else(|| {
            let allowed = "an address with a port, such as \"127.0.0.1:6432\", \"[::]:6432\", \"localhost:6432\" or \"*:6432\"";
            Refusal::expected(allowed, value)
        })
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl MayBeAbsent for ListenAddress {}

/// Where a PostgreSQL server is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServerHost {
    /// A host name or IP address, resolved when a connection is made.
    Tcp(String),
    /// The directory of a unix socket `.s.PGSQL.<port>`.
    Unix(PathBuf),
}

impl ServerHost {
    /// Reads a host as libpq does: a text that starts with `/` is the directory of a unix socket, one that starts with `@`
    /// names an abstract socket.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') || text.starts_with('@') {
            return Some(Self::Unix(PathBuf::from(text)));
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if bare.parse::<IpAddr>().is_ok() {
            return Some(Self::Tcp(bare.to_owned()));
        }
        // One host only: a list of hosts is for failover, which does not exist yet.
        let plausible = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        (!text.is_empty() && text.len() <= 253 && text.chars().all(plausible))
            .then(|| Self::Tcp(text.to_owned()))
    }

    /// The path of the unix socket for `port`; `None` for a TCP host.
    pub fn socket_path(&self, port: u16) -> Option<PathBuf> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix(directory) => Some(Path::new(directory).join(format!(".s.PGSQL.{port}"))),
        }
    }
}

impl fmt::Display for ServerHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host) => f.write_str(host),
            Self::Unix(directory) => directory.display().fmt(f),
        }
    }
}

impl Setting for ServerHost {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        value.as_text().and_then(Self::parse).ok_or_else(|| {
            let allowed = "one host name, IP address or directory of a unix socket (\"/var/run/postgresql\")";
            Refusal::expected(allowed, value)
        })
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl MayBeAbsent for ServerHost {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_addresses() {
        let read = |text: &str| ListenAddress::parse(text).map(|address| address.to_string());
        for right in ["127.0.0.1:6432", "[::]:6432", "*:6432", "localhost:5432"] {
            assert_eq!(read(right).as_deref(), Some(right));
        }
        for wrong in
            ["", "6432", "127.0.0.1", "127.0.0.1:0", "*:0", "example.com:6432", "::1:6432", "*:65536"]
        {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        let loopback = |text: &str| ListenAddress::parse(text).expect("valid").is_loopback();
        assert!(
            loopback("127.0.0.1:1")
                && loopback("127.9.9.9:1")
                && loopback("[::1]:1")
                && loopback("localhost:1")
        );
        assert!(loopback("[::ffff:127.0.0.1]:1"));
        assert!(!loopback("*:1") && !loopback("0.0.0.0:1") && !loopback("[::]:1") && !loopback("10.0.0.1:1"));
    }

    #[test]
    fn server_hosts() {
        assert_eq!(ServerHost::parse("/run/pg"), Some(ServerHost::Unix("/run/pg".into())));
        assert_eq!(ServerHost::parse("[::1]"), Some(ServerHost::Tcp("::1".into())));
        assert_eq!(ServerHost::parse("db.example.com"), Some(ServerHost::Tcp("db.example.com".into())));
        assert_eq!(ServerHost::parse("a,b"), None);
        assert_eq!(ServerHost::parse(""), None);
        let socket = ServerHost::Unix("/run/pg".into()).socket_path(5433);
        assert_eq!(socket.as_deref(), Some(Path::new("/run/pg/.s.PGSQL.5433")));
    }
}
