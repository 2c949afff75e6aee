//! The program `trunkline`; what it does is in the library's `cli`.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use trunkline::cli::{Cli, run};

fn main() -> ExitCode {
    run(&Cli::parse(), &mut stdout(), &mut stderr())
}
