//! Starts real PostgreSQL servers and the real proxy for tests, and breaks connections between them.
//!
//! The parts:
//!
//! - [`Cluster`]: a throwaway PostgreSQL of a chosen major [`Version`], with roles for every
//!   authentication method and TLS on;
//! - [`Proxy`]: the `trunkline` binary with a config, its logs, CPU time and memory;
//! - [`raw::RawClient`] and [`raw::RawServer`]: peers that send whatever bytes a test wants;
//! - [`CutProxy`]: a TCP relay that can cut connections, stop passing bytes, or pass only a part of them.
//!
//! Servers and folders never outlive the test process, even if it is killed: see [`guard`].

pub mod account;
pub mod binaries;
mod certificate;
pub mod cluster;
pub mod cut_proxy;
pub mod guard;
pub mod http;
mod ports;
pub mod process;
pub mod proxy;
mod ram_disk;
pub mod raw;
mod template;

pub use binaries::{Binaries, Version};
pub use cluster::Cluster;
pub use cut_proxy::CutProxy;
pub use ports::free_port;
pub use process::Signal;
pub use proxy::Proxy;
pub use raw::{Frame, Messages, RawClient, RawServer};

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A test that waits longer than this for something fails.
///
/// It only ends tests that hang, and measures nothing: no machine is so busy that an answer takes this long.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The repository's root: the first folder above this crate that holds `Cargo.lock`.
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    root.unwrap_or(here).to_path_buf()
}
