//! How to reach a server, and as whom.
//!
//! libpq's settings under libpq's names (manual, "Parameter Key Words"), as a URI, as `setting=value` pairs, from the
//! environment, a service file and a password file.

mod build;
mod error;
mod files;
mod settings;
mod text;

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

pub use error::ConfigError;
pub use trunkline_net::tls::{ClientIdentity, Roots, SslMode};
pub use trunkline_session::authentication::Password;
pub use trunkline_wire::startup::ProtocolVersion;

/// One server that may be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name, its address, or, beginning with `/` or `@`, the directory of its unix socket.
    pub name: String,
    /// Where to connect to instead of looking the name up.
    pub address: Option<IpAddr>,
    /// The TCP port, and the number in a unix socket's name.
    pub port: u16,
}

/// Which servers will do, of those that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetSessionAttrs {
    /// Any.
    #[default]
    Any,
    /// Not in recovery, and transactions write by default.
    ReadWrite,
    /// The opposite.
    ReadOnly,
    /// Not in recovery.
    Primary,
    /// In recovery.
    Standby,
    /// In recovery; if there is none, any.
    PreferStandby,
}

/// In which order hosts are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadBalanceHosts {
    /// As they are given.
    #[default]
    Disable,
    /// In random order, another one for each connection.
    Random,
}

/// Whether SCRAM binds to the TLS connection (SCRAM-SHA-256-PLUS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where the server can.
    #[default]
    Prefer,
    /// The login fails without.
    Require,
}

/// TCP keepalive; `None` leaves the system's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalives {
    /// Whether there are any. Default: yes.
    pub enabled: bool,
    /// Silence before the first probe.
    pub idle: Option<Duration>,
    /// Time between probes.
    pub interval: Option<Duration>,
    /// Probes without answer before the connection is given up.
    pub count: Option<u32>,
    /// Longest time that sent data may go unacknowledged; Linux only.
    pub user_timeout: Option<Duration>,
}

/// TLS, as libpq's settings say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// `sslmode`. Default: prefer.
    pub mode: SslMode,
    /// `sslrootcert`.
    pub roots: Option<Roots>,
    /// `sslcert` and `sslkey`.
    pub identity: Option<ClientIdentity>,
    /// `sslnegotiation=direct`: without asking first, for PostgreSQL 17 and later.
    pub direct: bool,
}

/// Statements kept prepared on a connection, when nothing else is said.
pub const STATEMENT_CACHE_DEFAULT: usize = 256;

/// Everything about a connection. `Debug` does not show the password.
#[derive(Debug, Clone)]
pub struct Config {
    /// Servers, tried in turn.
    pub hosts: Vec<Host>,
    /// The user.
    pub user: String,
    /// The database; the user's name when not given.
    pub database: String,
    /// Each host's password, or none; one for all where there is one.
    pub passwords: Vec<Option<Password>>,
    /// Other start-up parameters, in the order to be sent.
    pub parameters: Vec<(String, String)>,
    /// Time for each host's connection and login; `None` is without end.
    pub connect_timeout: Option<Duration>,
    /// Keepalives.
    pub keepalives: Keepalives,
    /// TLS.
    pub tls: TlsSettings,
    /// Channel binding.
    pub channel_binding: ChannelBinding,
    /// Which servers will do.
    pub target_session_attrs: TargetSessionAttrs,
    /// In which order hosts are tried.
    pub load_balance_hosts: LoadBalanceHosts,
    /// The newest protocol to ask for.
    pub protocol: ProtocolVersion,
    /// Statements kept prepared on a connection, found by their text; 0 for poolers that cannot carry them.
    pub statement_cache: usize,
    /// The longest message that the server may send, in bytes: a row, a piece of copied data. Default: PostgreSQL's own limit.
    pub server_message_bytes_max: u32,
}

impl Config {
    /// Reads a connection string, and nothing else: no environment, no files.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        build::config(&text::parse(text)?, &build::Surroundings::NONE)
    }

    /// Reads a connection string as libpq does: what it leaves open comes from its service, the environment (`PGHOST`...), the
    /// password file, and the certificates in `~/.postgresql`.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn load(text: &str) -> Result<Self, ConfigError> {
        Self::load_with(text, &|name| std::env::var(name).ok())
    }

    /// [`load`](Self::load) of an empty string: everything comes from the surroundings.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::load("")
    }

    /// [`load`](Self::load) with another environment.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn load_with(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut settings = text::parse(text)?;
        let home = variable(if cfg!(windows) { "APPDATA" } else { "HOME" }).map(PathBuf::from);
        let surroundings = build::Surroundings { variable, home };
        surroundings.fill(&mut settings)?;
        build::config(&settings, &surroundings)
    }

    /// The password for the host at `index` of [`hosts`](Self::hosts).
    #[must_use]
    pub fn password(&self, index: usize) -> Option<&Password> {
        let found =
            if self.passwords.len() == 1 { self.passwords.first() } else { self.passwords.get(index) };
        found?.as_ref()
    }
}

impl FromStr for Config {
    type Err = ConfigError;

    /// As [`Config::parse`].
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        Self::parse(text)
    }
}
