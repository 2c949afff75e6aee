//! The program `trunkline`. The library's `cli` does the work.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use tikv_jemallocator::Jemalloc;
use trunkline::cli::{Cli, run};

/// jemalloc returns memory to the system about ten seconds after a burst of load; glibc's malloc would keep it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    run(&Cli::parse(), &mut stdout(), &mut stderr())
}
