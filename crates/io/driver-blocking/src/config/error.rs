//! What is wrong with a configuration.

use std::path::PathBuf;

/// A configuration that cannot be used. None quotes a password, nor the text it may stand in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The connection string has a fault.
    #[error("the connection string is not usable: {0}")]
    Text(&'static str),
    /// A keyword that is not libpq's, nor ours.
    #[error("there is no connection setting `{0}`")]
    UnknownSetting(String),
    /// A setting of libpq's that is not supported, and that it would be unsafe to ignore.
    #[error("the connection setting `{0}` is not supported")]
    UnsupportedSetting(&'static str),
    /// A setting's value cannot be.
    #[error("`{name}` cannot have this value: expected {expected}")]
    Value {
        /// The setting.
        name: &'static str,
        /// What would do.
        expected: &'static str,
    },
    /// Lists of hosts and ports that do not go together.
    #[error("{hosts} hosts and {others} {what} were given: expected as many, or one for all")]
    Lists {
        /// How many hosts.
        hosts: usize,
        /// How many of the others.
        others: usize,
        /// What they are.
        what: &'static str,
    },
    /// No user was given, and the environment has none.
    #[error("no user is given: set `user`, PGUSER or USER")]
    NoUser,
    /// A file could not be read.
    #[error("cannot read {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The service file has no such service.
    #[error("{} has no service `{service}`", path.display())]
    NoService {
        /// The file.
        path: PathBuf,
        /// The service asked for.
        service: String,
    },
    /// A line of the service file is none.
    #[error("{}, line {line}: expected `setting=value`", path.display())]
    ServiceLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}
