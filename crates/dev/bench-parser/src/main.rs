//! Runs the contenders in turns and prints the parser's tables of docs/benchmarks.md as Markdown.
//!
//!     trunkline-bench-parser [--repetitions N] [--milliseconds N] [--no-instructions] [--out FILE]

mod counts;
mod report;
mod times;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

/// The options of the command line.
pub struct Options {
    /// How often each contender is measured.
    repetitions: usize,
    /// How long a statement is measured each time.
    milliseconds: u64,
    /// Whether callgrind counts instructions too.
    instructions: bool,
    out: Option<PathBuf>,
}

fn options() -> Result<Options> {
    let mut options = Options { repetitions: 5, milliseconds: 8, instructions: true, out: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--repetitions" => options.repetitions = value()?.parse()?,
            "--milliseconds" => options.milliseconds = value()?.parse()?,
            "--no-instructions" => options.instructions = false,
            "--out" => options.out = Some(value()?.into()),
            other => {
                bail!("{other} is not an option: --repetitions, --milliseconds, --no-instructions, --out")
            }
        }
    }
    Ok(options)
}

/// A contender's function that is measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cell {
    pub contender: &'static str,
    pub function: &'static str,
}

const fn cell(contender: &'static str, function: &'static str) -> Cell {
    Cell { contender, function }
}

/// Everything that is measured.
pub const CELLS: &[Cell] = &[
    cell("ours", "parse"),
    cell("ours", "walk"),
    cell("ours", "deparse"),
    cell("ours", "json"),
    cell("ours", "fingerprint of a tree"),
    cell("ours", "fingerprint"),
    cell("ours", "normalize"),
    cell("ours", "scan"),
    cell("ours", "scan_key"),
    cell("ours", "classify"),
    cell("ours", "cache by text"),
    cell("ours", "cache by scan_key"),
    cell("pg_query", "C parse"),
    cell("pg_query", "C parse and deparse"),
    cell("pg_query", "C parse and fingerprint"),
    cell("pg_query", "C tokens"),
    cell("pg_query", "parse"),
    cell("pg_query", "deparse"),
    cell("pg_query", "fingerprint"),
    cell("pg_query", "normalize"),
    cell("pg_query", "scan"),
    cell("pg_raw_parse", "parse"),
    cell("pg_raw_parse", "deparse"),
    cell("sqlparser", "parse"),
    cell("sqlparser", "deparse"),
    cell("sqlparser", "scan"),
];

/// The path of a contender's program, which is in the same folder as this program.
pub fn program(contender: &str) -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let program = here.with_file_name(contender);
    ensure!(program.exists(), "{} is not built: cargo build --release --bins", program.display());
    Ok(program)
}

fn main() -> Result<()> {
    ensure!(!cfg!(debug_assertions), "this is a debug build: use `make bench-parser`");
    let options = options()?;
    let times = times::measure(&options)?;
    let counts = if options.instructions { counts::measure()? } else { counts::Counts::default() };
    let report = report::render(&options, &times, &counts);
    match &options.out {
        Some(path) => std::fs::write(path, &report).with_context(|| format!("writing {}", path.display()))?,
        None => println!("{report}"),
    }
    Ok(())
}
