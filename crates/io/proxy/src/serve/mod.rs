//! The running proxy.

use std::fmt;

use crate::config::{Config, ConfigSource};

/// Why the proxy could not start, or ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The event loop is not part of this build.
    NoEventLoop,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this build has no event loop")
    }
}

impl std::error::Error for ServeError {}

/// Serves `config` until a signal ends it; a reload reads `source` again.
#[allow(clippy::needless_pass_by_value)]
pub fn run(_config: Config, _source: ConfigSource) -> Result<(), ServeError> {
    Err(ServeError::NoEventLoop)
}
