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
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Result;

/// Ports are taken from below those that the kernel gives to outgoing connections (32768 and up).
const FIRST_PORT: u32 = 10_000;
/// How many a process has to itself, and how many processes there is room for.
const PORTS_A_PROCESS: u32 = 100;
const PROCESSES: u32 = 200;

/// A TCP port on 127.0.0.1 that nothing listens on at the moment of the call, and that neither this process nor
/// (most likely) another test process is given soon: the proxy shares a port with whoever listens on it already.
///
/// # Errors
/// When all ports are taken.
pub fn free_port() -> Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mine = FIRST_PORT + std::process::id() % PROCESSES * PORTS_A_PROCESS;
    for _ in 0..PORTS_A_PROCESS {
        let port = u16::try_from(mine + NEXT.fetch_add(1, Ordering::Relaxed) % PORTS_A_PROCESS)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no free port on 127.0.0.1 from {mine} on")
}

/// The repository's root: the first folder above this crate that holds `Cargo.lock`.
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    root.unwrap_or(here).to_path_buf()
}
