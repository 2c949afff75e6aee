//! A throwaway PostgreSQL for programs that are not written in Rust: `cluster 18`.
//!
//! Prints its port and its superuser's unix socket folder on one line, and stays until standard input ends.

// Its output is its interface.
#![allow(clippy::print_stdout)]

use std::io::{self, Read, Write};

use anyhow::{Context, Result};
use trunkline_testkit::{Cluster, Version};

fn main() -> Result<()> {
    let argument = std::env::args().nth(1).context("usage: cluster MAJOR_VERSION")?;
    let version = Version(argument.parse().with_context(|| format!("{argument:?} is no major version"))?);
    let cluster = Cluster::start(version)?;
    println!("{} {}", cluster.port(), cluster.socket_folder().display());
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
