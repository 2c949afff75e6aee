//! `[databases.NAME]`: a database name that clients ask for, and the server behind it.

use std::path::PathBuf;
use std::time::Duration;

use super::address::ServerHost;
use super::modes::{PoolMode, SslMode};
use super::password::{PasswordKeys, ReadContext};
use super::problem::Findings;
use super::secret::Secret;
use super::section::section;
use super::tls::{RootCertificates, ServerTls};
use super::upstream::{DEFAULT_PORT, ServerUrl};

/// The entry for database names that have no entry of their own.
pub const FALLBACK: &str = "*";

section! {
    /// The keys of `[databases.NAME]` as the file has them. [`DatabaseKeys::build`] makes a [`Database`] of them.
    pub(super) struct DatabaseKeys {
        /// The server as a URL.
        upstream: Option<Secret> = None,
        /// Host name, address or socket directory.
        host: Option<ServerHost> = None,
        /// Port.
        port: Option<u16> = None,
        /// Name on the server.
        dbname: Option<String> = None,
        /// User on the server.
        user: Option<String> = None,
        /// Password of `user`.
        password: Option<Secret> = None,
        /// File with the password.
        password_file: Option<PathBuf> = None,
        /// Environment variable with the password.
        password_env: Option<String> = None,
        /// Pool mode. [`Database`] describes this key and those below.
        pool_mode: Option<PoolMode> = None,
        /// Pool size.
        pool_size: Option<u32> = None,
        /// Minimum.
        min_pool_size: Option<u32> = None,
        /// Reserve.
        reserve_pool_size: Option<u32> = None,
        /// Server connections.
        max_connections: Option<u32> = None,
        /// Clients.
        max_client_connections: Option<u32> = None,
        /// TLS mode.
        sslmode: Option<SslMode> = None,
        /// Trusted authorities.
        sslrootcert: Option<RootCertificates> = None,
        /// Our certificate.
        sslcert: Option<PathBuf> = None,
        /// Its key.
        sslkey: Option<PathBuf> = None,
        /// First query.
        connect_query: Option<String> = None,
        /// Encoding.
        client_encoding: Option<String> = None,
        /// Date style.
        datestyle: Option<String> = None,
        /// Time zone.
        timezone: Option<String> = None,
        /// Application name.
        application_name: Option<String> = None,
        /// Authentication query.
        auth_query: Option<String> = None,
        /// User that runs the authentication query.
        auth_user: Option<String> = None,
        /// Database where the authentication query runs.
        auth_dbname: Option<String> = None,
        /// Age of a server connection.
        server_lifetime: Option<Option<Duration>> = None,
    }
}

/// One entry of `[databases]`. Where a field is `None`, the setting of `[pool]`, `[timeouts]` or `[auth]` holds;
/// [`super::Config::pool_settings`] combines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Where the server is.
    pub host: ServerHost,
    /// The server's port.
    pub port: u16,
    /// The database's name on the server; `None`: the name that the client asked for.
    pub dbname: Option<String>,
    /// The user that Trunkline logs in as; `None`: the client's user.
    pub user: Option<String>,
    /// The password of `user` on the server.
    pub password: Option<Secret>,
    /// When a server connection goes back to its pool.
    pub pool_mode: Option<PoolMode>,
    /// Server connections of each pool.
    pub pool_size: Option<u32>,
    /// Server connections kept even when nobody uses them.
    pub min_pool_size: Option<u32>,
    /// Server connections beyond the pool's size for clients that wait long.
    pub reserve_pool_size: Option<u32>,
    /// Most server connections to this database, in all its pools together; 0: no limit.
    pub max_connections: Option<u32>,
    /// Most clients of this database; 0: no limit.
    pub max_client_connections: Option<u32>,
    /// TLS to the server: `[tls.server]`, overridden by this entry's own keys.
    pub tls: ServerTls,
    /// A query that Trunkline sends once on each new server connection.
    pub connect_query: Option<String>,
    /// `client_encoding` of new server connections.
    pub client_encoding: Option<String>,
    /// `DateStyle` of new server connections.
    pub datestyle: Option<String>,
    /// `TimeZone` of new server connections.
    pub timezone: Option<String>,
    /// `application_name` of new server connections.
    pub application_name: Option<String>,
    /// The query that finds a user's password.
    pub auth_query: Option<String>,
    /// The user that runs `auth_query`.
    pub auth_user: Option<String>,
    /// The entry of `[databases]` where `auth_query` runs.
    pub auth_dbname: Option<String>,
    /// The greatest age of a server connection; `Some(None)`: no limit.
    pub server_lifetime: Option<Option<Duration>>,
}

impl Database {
    /// The server of `url`; all other settings are unset.
    pub(super) fn from_url(url: ServerUrl, tls: ServerTls) -> Self {
        Self {
            user: url.user,
            password: url.password,
            dbname: url.dbname,
            application_name: url.application_name,
            ..Self::on_host(url.host, url.port, tls)
        }
    }

    /// The server at `host`; all other settings are unset.
    fn on_host(host: ServerHost, port: u16, tls: ServerTls) -> Self {
        Self {
            host,
            port,
            tls,
            dbname: None,
            user: None,
            password: None,
            pool_mode: None,
            pool_size: None,
            min_pool_size: None,
            reserve_pool_size: None,
            max_connections: None,
            max_client_connections: None,
            connect_query: None,
            client_encoding: None,
            datestyle: None,
            timezone: None,
            application_name: None,
            auth_query: None,
            auth_user: None,
            auth_dbname: None,
            server_lifetime: None,
        }
    }
}

impl DatabaseKeys {
    /// Makes the entry of the table `path`; `None` if the table has a fault, which is then in `findings`.
    pub(super) fn build(
        self,
        path: &str,
        tls: &ServerTls,
        context: &ReadContext<'_>,
        findings: &mut Findings<'_>,
    ) -> Option<Database> {
        let server = self.server(path, tls, context, findings)?;
        let file =
            |own: Option<PathBuf>, given: Option<PathBuf>| own.map(|path| context.resolve(&path)).or(given);
        let own_root = match self.sslrootcert {
            Some(RootCertificates::File(path)) => Some(RootCertificates::File(context.resolve(&path))),
            other => other,
        };
        let tls = ServerTls {
            sslmode: self.sslmode.unwrap_or(server.tls.sslmode),
            root: own_root.or_else(|| server.tls.root.clone()),
            cert: file(self.sslcert, server.tls.cert.clone()),
            key: file(self.sslkey, server.tls.key.clone()),
        };
        Some(Database {
            tls,
            pool_mode: self.pool_mode,
            pool_size: self.pool_size,
            min_pool_size: self.min_pool_size,
            reserve_pool_size: self.reserve_pool_size,
            max_connections: self.max_connections,
            max_client_connections: self.max_client_connections,
            connect_query: self.connect_query,
            client_encoding: self.client_encoding,
            datestyle: self.datestyle,
            timezone: self.timezone,
            application_name: self.application_name.or_else(|| server.application_name.clone()),
            auth_query: self.auth_query,
            auth_user: self.auth_user,
            auth_dbname: self.auth_dbname,
            server_lifetime: self.server_lifetime,
            ..server
        })
    }

    /// The server's address and login, from `upstream` or from the single keys.
    fn server(
        &self,
        path: &str,
        tls: &ServerTls,
        context: &ReadContext<'_>,
        findings: &mut Findings<'_>,
    ) -> Option<Database> {
        let keys = PasswordKeys {
            inline: self.password.clone(),
            file: self.password_file.clone(),
            environment: self.password_env.clone(),
        };
        let password = keys.read(path, context, findings);
        let Some(upstream) = &self.upstream else {
            let Some(host) = self.host.clone() else {
                if !findings.mentions(&format!("{path}.host")) {
                    findings.add_at(
                        path,
                        format!("[{path}] does not say where the server is: set `host` or `upstream`"),
                    );
                }
                return None;
            };
            if password.is_some() && self.user.is_none() {
                findings.add_at(path, format!("[{path}] has a password but no `user` that it belongs to"));
            }
            let server = Database::on_host(host, self.port.unwrap_or(DEFAULT_PORT), tls.clone());
            return Some(Database {
                dbname: self.dbname.clone(),
                user: self.user.clone(),
                password,
                ..server
            });
        };
        for (key, given) in [("host", self.host.is_some()), ("port", self.port.is_some())] {
            if given {
                findings.add_at(
                    &format!("{path}.{key}"),
                    format!(
                        "`{path}.{key}`: the URL in `upstream` already has the {key}; keep one of the two"
                    ),
                );
            }
        }
        match ServerUrl::parse(upstream.expose()) {
            Ok(url) => {
                let tls = url.tls(tls);
                let server = Database::from_url(url, tls);
                Some(Database {
                    dbname: self.dbname.clone().or_else(|| server.dbname.clone()),
                    user: self.user.clone().or_else(|| server.user.clone()),
                    password: password.or_else(|| server.password.clone()),
                    ..server
                })
            }
            Err(error) => {
                findings.add_at(&format!("{path}.upstream"), format!("`{path}.upstream`: {error}"));
                None
            }
        }
    }
}
