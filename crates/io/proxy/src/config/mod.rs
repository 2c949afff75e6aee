//! `trunkline.toml`: what it may say, read and checked.
//!
//! [`Config::load`] reads a file; [`Config::from_upstream`] makes a configuration without a file. Both return a checked
//! [`Config`], so its users need not check again whether, say, a certificate has a key. [`reload::compare`] lists the
//! differences between two configurations.

mod address;
mod advice;
mod auth;
mod bounds;
mod checks;
mod database;
mod effective;
mod file;
mod from_toml;
mod general;
mod http;
mod limits;
mod modes;
mod password;
mod pgbouncer;
mod pool;
mod problem;
mod read;
pub mod reload;
pub mod schema;
mod secret;
mod section;
mod setting;
mod source;
mod timeouts;
mod tls;
mod units;
mod upstream;
mod user;
mod userlist;
mod value;

use std::collections::BTreeMap;

pub use address::{ListenAddress, ServerHost};
pub use auth::{Auth, DEFAULT_AUTH_QUERY};
pub use database::{Database, FALLBACK};
pub use effective::{AuthQuery, PoolSettings};
pub use general::{FileMode, General};
pub use http::{Http, Log};
pub use limits::Limits;
pub use modes::{AuthType, LogFormat, LogLevel, PoolMode, SslMode, TlsVersion};
pub use pool::Pool;
pub use problem::{ConfigError, Problem};
pub use secret::Secret;
pub use source::ConfigSource;
pub use timeouts::Timeouts;
pub use tls::{ClientTls, RootCertificates, ServerTls};
pub use units::Size;
pub use upstream::{ServerUrl, UpstreamError};
pub use user::User;
pub use userlist::LoadedUserlist;

/// Everything that `trunkline.toml` can say, checked. Paths are resolved, and passwords are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The settings before the first table.
    pub general: General,
    /// `[limits]`.
    pub limits: Limits,
    /// `[timeouts]`.
    pub timeouts: Timeouts,
    /// `[pool]`.
    pub pool: Pool,
    /// `[databases.NAME]`; [`FALLBACK`] is for names that have no entry. Use [`Config::database`].
    pub databases: BTreeMap<String, Database>,
    /// `[users.NAME]`.
    pub users: BTreeMap<String, User>,
    /// What `[auth] file` holds. Use [`Config::password_of`].
    pub userlist: LoadedUserlist,
    /// `[auth]`.
    pub auth: Auth,
    /// `[tls.client]` and `[tls.server]`.
    pub tls: Tls,
    /// `[http]`.
    pub http: Http,
    /// `[log]`.
    pub log: Log,
}

/// `[tls.client]` and `[tls.server]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// TLS between clients and Trunkline.
    pub client: ClientTls,
    /// TLS between Trunkline and servers. [`Database::tls`] has the settings of one database.
    pub server: ServerTls,
}
