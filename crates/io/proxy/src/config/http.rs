//! `[http]` and `[log]`: the pages and the log for operators.

use std::time::Duration;

use super::address::ListenAddress;
use super::modes::{LogFormat, LogLevel};
use super::section::section;

section! {
    /// `[http]`: `/metrics`, `/healthz` and `/readyz`.
    pub struct Http {
        /// The address of the pages; `None`: no pages.
        [Restart]
        listen: Option<ListenAddress> = None,
        /// Most connections at once.
        [Restart]
        connections_max: u32 = 32,
        /// How long a client may take to send the head of a request.
        [Restart]
        header_timeout: Duration = Duration::from_secs(5),
    }
}

section! {
    /// `[log]`. The log goes to standard error.
    pub struct Log {
        /// The format of the lines.
        [Restart]
        format: LogFormat = LogFormat::Text,
        /// The level. The environment variable `TRUNKLINE_LOG` and the option `-v` override it.
        level: LogLevel = LogLevel::Info,
        /// Whether there is a line for each connection at the level `debug`.
        connections: bool = true,
        /// Most warnings and errors of one kind that are written in ten seconds; 0: no limit.
        repeats_max: u32 = 10,
    }
}
