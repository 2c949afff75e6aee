//! The command line, for long runs and for single seeds: `trunkline-differential --help`.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use trunkline_differential::play::Errors;
use trunkline_differential::{Classes, Options, run};
use trunkline_probes::testkit::Version;

/// The text of `--help`.
const USAGE: &str = "\
usage: trunkline-differential [OPTION...]

Plays random sessions directly and through the proxy, and prints where the answers differ. Exit code 1 if they do.

  --statements N         at least this many in total; default 1 (one script)
  --seed N               of the first script; default 1
  --script-statements N  about this many in each script; default 250
  --postgres N           major version; default 15
  --classes LIST         features of sessions, such as all,-ddl or set,literals; default all
  --churners N           further clients in threads of their own; default 0; with 0, all plays of a seed are equal
  --differences N        end after this many; default 1
  --errors-by-code       compare errors by severity and SQLSTATE only
  --no-shrink            do not shorten the script of a difference
  --print                print the first script and play nothing";

fn main() -> Result<ExitCode> {
    let Some((options, print)) = parse(std::env::args().skip(1))? else {
        println!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    };
    if print {
        let Options { seed, script_statements, classes, version, .. } = options;
        print!("{}", trunkline_differential::generate::script(seed, script_statements, classes, version));
        return Ok(ExitCode::SUCCESS);
    }
    let mut shown = 0;
    let summary = run(&options, |seed, summary| {
        summary.differences[shown..].iter().for_each(|difference| println!("\n{difference}"));
        shown = summary.differences.len();
        if summary.scripts.is_multiple_of(20) {
            println!("seed {seed}: {} statements, {shown} differences", summary.figures.statements);
        }
    })?;
    println!("{} scripts, {:?}, {} differences", summary.scripts, summary.figures, summary.differences.len());
    Ok(if summary.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The options, and whether to print the script only; `None` for `--help`.
fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<(Options, bool)>> {
    let mut options = Options {
        seed: 1,
        statements: 1,
        script_statements: 250,
        classes: Classes::all(),
        version: Version::PG15,
        churners: 0,
        errors: Errors::Whole,
        shrink: true,
        differences_max: 1,
    };
    let mut print = false;
    let mut arguments = arguments.into_iter();
    while let Some(option) = arguments.next() {
        match option.as_str() {
            "--help" => return Ok(None),
            "--no-shrink" => options.shrink = false,
            "--errors-by-code" => options.errors = Errors::Codes,
            "--print" => print = true,
            _ => {
                let value = arguments.next().with_context(|| format!("{option} needs a value\n{USAGE}"))?;
                let number = || value.parse().with_context(|| format!("{option} {value}: no number"));
                match option.as_str() {
                    "--statements" => options.statements = number()?,
                    "--seed" => options.seed = u64::try_from(number()?)?,
                    "--script-statements" => options.script_statements = number()?,
                    "--postgres" => options.version = Version(u16::try_from(number()?)?),
                    "--classes" => options.classes = Classes::parse(&value)?,
                    "--churners" => options.churners = number()?,
                    "--differences" => options.differences_max = number()?,
                    _ => bail!("no option {option}\n{USAGE}"),
                }
            }
        }
    }
    Ok(Some((options, print)))
}
