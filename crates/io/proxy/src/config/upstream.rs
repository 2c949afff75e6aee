//! A server as a URL: `postgres://user:password@host:port/dbname?sslmode=require`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::Config;
use super::address::{ListenAddress, ServerHost};
use super::database::{Database, FALLBACK};
use super::modes::{AuthType, SslMode};
use super::problem::ConfigError;
use super::secret::Secret;
use super::tls::{RootCertificates, ServerTls};
use super::user::User;

/// PostgreSQL's default port.
pub(super) const DEFAULT_PORT: u16 = 5432;

/// The parts of a server URL. Errors never quote a part, because a misplaced `@` or `/` can put the password into any of
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    /// Where the server is.
    pub host: ServerHost,
    /// Its port.
    pub port: u16,
    /// The user to log in as.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<Secret>,
    /// The database.
    pub dbname: Option<String>,
    /// `sslmode`, where given.
    pub sslmode: Option<SslMode>,
    /// `sslrootcert`, where given.
    pub sslrootcert: Option<RootCertificates>,
    /// `sslcert`, where given.
    pub sslcert: Option<PathBuf>,
    /// `sslkey`, where given.
    pub sslkey: Option<PathBuf>,
    /// `application_name`, where given.
    pub application_name: Option<String>,
}

/// Why an `--upstream`, a `--listen` or an `upstream = "..."` was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamError {
    /// The URL has a fault.
    Url(&'static str),
    /// The URL has a parameter of libpq that Trunkline does not support.
    Parameter(&'static str),
    /// `--listen` is not an address with a port.
    Listen(String),
    /// The URL has no password, and other machines can reach the address: they could use the server without a password.
    Open(ListenAddress),
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(reason) => write!(
                f,
                "the server's URL is not usable: {reason}; expected postgres://user:password@host:port/dbname (%-encode special characters in the password)"
            ),
            Self::Parameter(name) => {
                write!(
                    f,
                    "the server's URL has `{name}`, which is not supported; allowed: {}",
                    PARAMETERS.join(", ")
                )
            }
            Self::Listen(text) => write!(
                f,
                "`--listen {text}` is not usable: expected an address with a port, such as 127.0.0.1:6432, [::1]:6432 or *:6432"
            ),
            Self::Open(address) => write!(
                f,
                "refusing to listen on {address}: the upstream URL has no password, so everybody who reaches that address could use the server; put user:password into the URL (Trunkline then asks clients for them), listen on 127.0.0.1, or give --allow-trust"
            ),
        }
    }
}

impl std::error::Error for UpstreamError {}

const PARAMETERS: [&str; 10] = [
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "application_name",
];

/// Other parameters of libpq that URLs often have. Errors name these, because none of them can be a password.
const UNSUPPORTED: [&str; 13] = [
    "channel_binding",
    "connect_timeout",
    "fallback_application_name",
    "gssencmode",
    "hostaddr",
    "keepalives",
    "load_balance_hosts",
    "options",
    "pgbouncer",
    "require_auth",
    "sslcrl",
    "sslnegotiation",
    "target_session_attrs",
];

impl ServerUrl {
    /// Parses a URL as libpq does (manual, "Connection URIs"), but with one host only.
    pub fn parse(url: &str) -> Result<Self, UpstreamError> {
        let fault = |reason| UpstreamError::Url(reason);
        let rest = ["postgres://", "postgresql://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or(fault("it does not begin with postgres://"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) =
            authority.rsplit_once('@').map_or((None, authority), |(login, place)| (Some(login), place));

        let mut parts: BTreeMap<&'static str, String> = BTreeMap::new();
        let mut put = |name: &'static str, text: &str| -> Result<(), UpstreamError> {
            if !text.is_empty() {
                parts.insert(name, decode(text)?);
            }
            Ok(())
        };
        if let Some(login) = login {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            put("user", user)?;
            put("password", password)?;
        }
        let (host, port) = split_port(place)?;
        put("host", host)?;
        put("port", port)?;
        put("dbname", path)?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or(fault("a parameter has no `=`"))?;
            if let Some(name) = UNSUPPORTED.into_iter().find(|unsupported| *unsupported == name) {
                return Err(UpstreamError::Parameter(name));
            }
            let known = PARAMETERS.into_iter().find(|known| *known == name);
            put(known.ok_or(fault("it has an unknown parameter"))?, value)?;
        }
        Self::from_parts(parts)
    }

    fn from_parts(mut parts: BTreeMap<&'static str, String>) -> Result<Self, UpstreamError> {
        let fault = |reason| UpstreamError::Url(reason);
        let host = parts.remove("host").ok_or(fault("the host is missing"))?;
        let port = match parts.remove("port") {
            None => DEFAULT_PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port != 0)
                .ok_or(fault("the port is not a number from 1 to 65535"))?,
        };
        let sslmode = match parts.remove("sslmode") {
            None => None,
            Some(word) => Some(SslMode::from_word(&word).ok_or(fault(
                "sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full",
            ))?),
        };
        Ok(Self {
            host: ServerHost::parse(&host)
                .ok_or(fault("the host is neither a name, an address nor a socket's directory"))?,
            port,
            user: parts.remove("user"),
            password: parts.remove("password").map(Secret::new),
            dbname: parts.remove("dbname"),
            sslmode,
            sslrootcert: parts.remove("sslrootcert").map(|text| RootCertificates::from_text(&text)),
            sslcert: parts.remove("sslcert").map(PathBuf::from),
            sslkey: parts.remove("sslkey").map(PathBuf::from),
            application_name: parts.remove("application_name"),
        })
    }

    /// `tls`, overridden by the URL's TLS parameters.
    pub(super) fn tls(&self, tls: &ServerTls) -> ServerTls {
        // As in libpq, sslrootcert=system implies verify-full, the only mode that is secure with it.
        let implied = (self.sslrootcert == Some(RootCertificates::System)).then_some(SslMode::VerifyFull);
        ServerTls {
            sslmode: self.sslmode.or(implied).unwrap_or(tls.sslmode),
            root: self.sslrootcert.clone().or_else(|| tls.root.clone()),
            cert: self.sslcert.clone().or_else(|| tls.cert.clone()),
            key: self.sslkey.clone().or_else(|| tls.key.clone()),
        }
    }
}

fn decode(text: &str) -> Result<String, UpstreamError> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| UpstreamError::Url("it is not UTF-8"))?;
    if text.contains('\0') {
        return Err(UpstreamError::Url("it has a zero byte"));
    }
    Ok(text.into_owned())
}

/// Splits `host:port`, `[::1]:port` or either without a port.
fn split_port(place: &str) -> Result<(&str, &str), UpstreamError> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(UpstreamError::Url("a `]` is missing"))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, port)),
            None if rest.is_empty() => Ok((host, "")),
            None => Err(UpstreamError::Url("something other than a port follows the `]`")),
        };
    }
    Ok(place.rsplit_once(':').unwrap_or((place, "")))
}

impl Config {
    /// A configuration without a file: Trunkline passes every database name on to the server of `url` and logs in there as
    /// the URL's user.
    ///
    /// Clients log in by SCRAM with the URL's user and password. If the URL has no password, every client is let in without
    /// one. That is refused on an address that other machines can reach, unless `allow_trust` is set.
    pub fn from_upstream(url: &str, listen: &str, allow_trust: bool) -> Result<Self, ConfigError> {
        Self::try_from_upstream(url, listen, allow_trust).map_err(ConfigError::Upstream)
    }

    fn try_from_upstream(url: &str, listen: &str, allow_trust: bool) -> Result<Self, UpstreamError> {
        let url = ServerUrl::parse(url)?;
        let address = ListenAddress::parse(listen).ok_or_else(|| UpstreamError::Listen(listen.to_owned()))?;
        let mut config = Self::default();
        config.general.listen = vec![address];
        match (&url.user, &url.password) {
            (Some(user), Some(password)) => {
                config.auth.r#type = AuthType::ScramSha256;
                let user_entry = User { password: Some(password.clone()), ..User::default() };
                config.users.insert(user.clone(), user_entry);
            }
            (None, Some(_)) => return Err(UpstreamError::Url("it has a password but no user")),
            (_, None) => {
                if !address.is_loopback() && !allow_trust {
                    return Err(UpstreamError::Open(address));
                }
                // Clients may use any name. Without a user in the URL, it is also the user on the server.
                config.auth.r#type = AuthType::Any;
            }
        }
        let tls = url.tls(&config.tls.server);
        if tls.sslmode.verifies() && tls.root.is_none() {
            return Err(UpstreamError::Url("sslmode=verify-... needs sslrootcert=system or a PEM file"));
        }
        if tls.cert.is_some() != tls.key.is_some() {
            return Err(UpstreamError::Url("sslcert and sslkey need each other"));
        }
        let database = Database { dbname: None, ..Database::from_url(url, tls) };
        config.databases.insert(FALLBACK.to_owned(), database);
        Ok(config)
    }
}
