//! The settings at the top of the file, before the first table.

use std::path::PathBuf;

use super::address::ListenAddress;
use super::modes::PoolMode;
use super::section::section;
use super::setting::{Refusal, Setting};
use super::value::{Data, Value};

section! {
    /// The settings at the top of the file.
    pub struct General {
        /// TCP addresses to listen on.
        [Restart]
        listen: Vec<ListenAddress> = default_listen(),
        /// Directory of the unix socket `.s.PGSQL.<port>` to listen on; `None`: no unix socket.
        [Restart]
        unix_socket_dir: Option<PathBuf> = None,
        /// Permissions of the unix socket.
        [Restart]
        unix_socket_mode: FileMode = FileMode(0o777),
        /// Event loops; 0: one for each core.
        [Restart]
        workers: u32 = 0,
        /// When a server connection goes back to its pool.
        pool_mode: PoolMode = PoolMode::Transaction,
        /// Most connections that wait in the kernel to be accepted, for each listening socket.
        [Restart]
        listen_backlog: u32 = 1024,
        /// Whether each worker has a listening socket of its own. The kernel then chooses the worker of a connection.
        [Restart]
        so_reuseport: bool = true,
        /// Start-up parameters that Trunkline accepts and ignores.
        ignore_startup_parameters: Vec<String> = Vec::new(),
        /// Parameters that follow the client in addition to the built-in ones, if the server reports them.
        track_extra_parameters: Vec<String> = vec!["IntervalStyle".to_owned(), "search_path".to_owned()],
    }
}

fn default_listen() -> Vec<ListenAddress> {
    vec![ListenAddress::One(([127, 0, 0, 1], 6432).into())]
}

/// Permission bits of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(u32);

impl FileMode {
    /// The bits, at most 0o777.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl Setting for FileMode {
    fn decode(value: &Value) -> Result<Self, Refusal> {
        let bits = match &value.data {
            Data::Text(text) => u32::from_str_radix(text.trim_start_matches("0o"), 8).ok(),
            // A decimal 700 would be 0o1274, so only octal numbers are accepted.
            Data::Integer(whole) if whole.radix == 8 => {
                whole.number().and_then(|number| u32::try_from(number).ok())
            }
            _ => None,
        };
        let octal = "octal permissions such as 0o770 or \"0770\"";
        bits.filter(|bits| *bits <= 0o777).map(Self).ok_or_else(|| Refusal::expected(octal, value))
    }

    fn show(&self) -> String {
        format!("0o{:o}", self.0)
    }
}
