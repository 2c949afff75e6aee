//! The long run, and one seed alone: `trunkline-differential --help`.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use trunkline_differential::play::Errors;
use trunkline_differential::{Classes, Options, run};
use trunkline_probes::testkit::Version;

/// What `--help` says.
const USAGE: &str = "\
usage: trunkline-differential [OPTION...]

Plays random sessions direct and through the proxy, and prints where the answers differ. Exit code 1 when they do.

  --statements N         at least this many; 1 (one script) unless told
  --seed N               of the first script; 1 unless told
  --script-statements N  of each script, about; 250 unless told
  --postgres N           major version; 15 unless told
  --classes LIST         what sessions do: all,-ddl or set,literals; all unless told
  --churners N           clients beside in threads of their own; 0 unless told, which makes all plays of a seed the same
  --differences N        show this many; 1 unless told
  --errors-by-code       compare errors by severity and SQLSTATE only
  --no-shrink            show a difference as it was found
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

/// The options, and whether to print only; `None` for `--help`.
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
