//! The program `trunkline`; what it does is in the library's `cli`.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use tikv_jemallocator::Jemalloc;
use trunkline::cli::{Cli, run};

/// What a burst took goes back to the system some ten seconds after it; glibc's malloc keeps it for ever.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    run(&Cli::parse(), &mut stdout(), &mut stderr())
}
