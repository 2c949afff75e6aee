//! The source of a configuration: where a reload reads it again.

use std::path::PathBuf;

use super::{Config, ConfigError, Secret};

/// The source of the running configuration. A reload reads it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// `--config FILE`.
    File(PathBuf),
    /// `--upstream URL --listen ADDRESS`.
    Upstream {
        /// The server's URL; it may hold a password.
        url: Secret,
        /// The address to listen on.
        listen: String,
        /// Whether clients need no password even on an address that other machines can reach.
        allow_trust: bool,
    },
}

impl ConfigSource {
    /// Reads the configuration, for the first time or again.
    pub fn read(&self) -> Result<Config, ConfigError> {
        match self {
            Self::File(path) => Config::load(path),
            Self::Upstream { url, listen, allow_trust } => {
                Config::from_upstream(url.expose(), listen, *allow_trust)
            }
        }
    }
}
