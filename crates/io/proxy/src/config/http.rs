//! `[http]` and `[log]`: what operators see.

use std::time::Duration;

use super::address::ListenAddress;
use super::modes::{LogFormat, LogLevel};
use super::section::section;

section! {
    /// `[http]`: `/metrics`, `/healthz` and `/readyz`.
    pub struct Http {
        /// Where the pages are served; `None`: nowhere.
        [Restart]
        listen: Option<ListenAddress> = None,
        /// Connections at once.
        [Restart]
        connections_max: u32 = 32,
        /// How long a request's head may take to arrive.
        [Restart]
        header_timeout: Duration = Duration::from_secs(5),
    }
}

section! {
    /// `[log]`, to standard error.
    pub struct Log {
        /// For people or for machines.
        [Restart]
        format: LogFormat = LogFormat::Text,
        /// How much; the environment's `TRUNKLINE_LOG` and `-v` go before.
        level: LogLevel = LogLevel::Info,
        /// Whether the level `debug` has a line for each connection.
        connections: bool = true,
        /// Warnings and errors of one kind that are written in ten seconds; 0: all.
        repeats_max: u32 = 10,
    }
}
