//! Repository chores that need no shell: `cargo xtask tidy`, `cargo xtask package`.
//!
//! It prints to standard output, for people and for CI, and has no log.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod finding;
mod package;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy [ROOT]
       cargo xtask package [CARGO'S ARGUMENTS]
       cargo xtask publish [CARGO'S ARGUMENTS]

  tidy     makes the checks of the repository that cargo cannot make; one line a finding, `file:line: what, what to do`.
           ROOT is the repository to check; default: this one.
  package  makes the .crate files of all published crates in target/package, each with everything that its build needs.
  publish  the same, and uploads them to the registry (try --dry-run).";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let chore = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    match (chore.as_str(), rest.as_slice()) {
        ("tidy", []) => report(&repository_root()),
        ("tidy", [root]) => report(Path::new(root)),
        ("package" | "publish", arguments) => match package::run(&repository_root(), &chore, arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{chore}: {error}");
                ExitCode::FAILURE
            }
        },
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The root of the workspace that has this crate's source: three folders above `crates/dev/xtask`.
fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}

/// Runs every check and prints its findings, one line for each check, and the counts at the end.
fn report(root: &Path) -> ExitCode {
    let tree = match tree::Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: cannot read {}: {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for check in tidy::CHECKS {
        let mut findings = (check.run)(&tree);
        findings.sort();
        for finding in &findings {
            println!("{finding}");
        }
        if findings.is_empty() {
            passed += 1;
            println!("ok      {}", check.name);
        } else {
            failed += 1;
            println!("FAILED  {}: {} to put right", check.name, findings.len());
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
