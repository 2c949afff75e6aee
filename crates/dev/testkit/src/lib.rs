//! Real PostgreSQL servers, the real proxy, and ways to break what runs between them.
//!
//! A test takes what it needs:
//!
//! - [`Cluster`]: a throwaway PostgreSQL of a chosen major [`Version`], with roles for every
//!   authentication method and TLS on;
//! - [`Proxy`]: the `trunkline` binary with a config, its logs, CPU time and memory;
//! - [`raw::RawClient`] and [`raw::RawServer`]: peers that send whatever bytes a test wants;
//! - [`CutProxy`]: a TCP relay that cuts, stalls or half-delivers on command.
//!
//! Nothing outlives the test process, however it ends: see [`guard`].

pub mod account;
pub mod binaries;
mod certificate;
pub mod cluster;
pub mod cut_proxy;
pub mod guard;
pub mod http;
pub mod process;
pub mod proxy;
pub mod raw;

pub use binaries::{Binaries, Version};
pub use cluster::Cluster;
pub use cut_proxy::CutProxy;
pub use process::Signal;
pub use proxy::Proxy;
pub use raw::{Frame, Messages, RawClient, RawServer};

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A TCP port on 127.0.0.1 that nothing listens on at the moment of the call.
///
/// # Errors
/// When the system has no free port.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// The repository's root: the first folder above this crate that holds `Cargo.lock`.
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    root.unwrap_or(here).to_path_buf()
}
